#pragma once

#include <cstdint>

#include "engine/bench_ops.h"

namespace paceline::engine {

/// `tokens` new tokens of each of `sequences`, which hold `context` tokens before them.
struct AttendShape {
  int32_t sequences, tokens, context;
  int32_t heads, kv_heads, dim;
};

/// Writing the new keys and values and attending over all of them, in as many layers as make the
/// history as large as `cold_bytes`; a call is one layer.
Operation attend_operation(const kernels::Context& ctx, const AttendShape& shape,
                           int64_t cold_bytes);

}  // namespace paceline::engine
