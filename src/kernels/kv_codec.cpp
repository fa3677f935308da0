#include "kernels/kv_codec.h"

#include <bit>
#include <cstring>

#include "blocks/scalar.h"
#include "kernels/kv_pages.h"

namespace paceline::kernels {
namespace {

constexpr uint32_t kMagnitude = 0x7fffffffU;
constexpr uint32_t kInfinity = 0x7f800000U;

uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & kMagnitude) > kInfinity) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// The 13 bits that f16 lacks are rounded in the integer; below 2^-14 adding 0.5 rounds to the step
/// of the subnormals, 2^-24.
uint16_t to_f16(float x) {
  constexpr uint32_t kBias = (127U - 15U) << 23;
  constexpr uint32_t kOverflow = 0x477ff000U;  // 65520: halfway to 2^16, rounds to infinity
  constexpr uint32_t kNormal = 113U << 23;     // 2^-14
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & kMagnitude;
  uint32_t half = 0;
  if (magnitude > kInfinity) {
    half = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  } else if (magnitude >= kOverflow) {
    half = 0x7c00U;
  } else if (magnitude >= kNormal) {
    half = (magnitude - kBias + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  } else {
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  }
  return static_cast<uint16_t>(sign | half);
}

template <class Item>
void copy_items(const std::byte* from, int64_t from_stride, int64_t count, std::byte* to,
                int64_t to_stride) {
  const auto size = static_cast<int64_t>(sizeof(Item));
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride * size, from + i * from_stride * size, sizeof(Item));
  }
}

}  // namespace

void kv_encode(const float* from, int64_t count, KvEncoding encoding, std::byte* to) {
  auto* out = reinterpret_cast<uint16_t*>(to);
  switch (encoding) {
    case KvEncoding::f32:
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case KvEncoding::bf16:
      for (int64_t i = 0; i < count; ++i) out[i] = to_bf16(from[i]);
      return;
    case KvEncoding::f16:
      for (int64_t i = 0; i < count; ++i) out[i] = to_f16(from[i]);
      return;
  }
}

void kv_decode(const std::byte* from, int64_t count, KvEncoding encoding, float* to) {
  const auto* in = reinterpret_cast<const uint16_t*>(from);
  switch (encoding) {
    case KvEncoding::f32:
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case KvEncoding::bf16:
      for (int64_t i = 0; i < count; ++i) to[i] = blocks::bf16_value(in[i]);
      return;
    case KvEncoding::f16:
      for (int64_t i = 0; i < count; ++i) to[i] = blocks::f16_value(in[i]);
      return;
  }
}

void kv_copy(const std::byte* from, int64_t from_stride, int64_t count, KvEncoding encoding,
             std::byte* to, int64_t to_stride) {
  if (kv_item_bytes(encoding) == 4) {
    copy_items<uint32_t>(from, from_stride, count, to, to_stride);
  } else {
    copy_items<uint16_t>(from, from_stride, count, to, to_stride);
  }
}

}  // namespace paceline::kernels
