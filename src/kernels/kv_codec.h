#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attend_spec.h"

namespace paceline::kernels {

/// Keys and values as they are stored: f32 as it is, bf16 and f16 rounded to nearest even, a NaN
/// stays one. Values beyond the greatest finite one by half a step or more become infinite.
void kv_encode(const float* from, int64_t count, KvEncoding encoding, std::byte* to);

/// Exact.
void kv_decode(const std::byte* from, int64_t count, KvEncoding encoding, float* to);

/// Copies stored values: `count` of them, `from_stride` and `to_stride` values apart.
void kv_copy(const std::byte* from, int64_t from_stride, int64_t count, KvEncoding encoding,
             std::byte* to, int64_t to_stride);

}  // namespace paceline::kernels
