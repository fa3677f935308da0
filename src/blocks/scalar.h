#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace paceline::blocks {

/// Unaligned little-endian load.
template <class T>
[[gnu::always_inline]] inline T load(const uint8_t* at) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Exact, subnormals included; branchless, and no operand is an f32 subnormal, so flush-to-zero
/// cannot change it.
[[gnu::always_inline]] inline float f16_value(uint16_t half) {
  constexpr uint32_t kExponent = 0x7c00u << 13;
  const uint32_t magnitude = (half & 0x7fffu) << 13;
  const uint32_t exponent = magnitude & kExponent;
  const uint32_t bias = exponent == kExponent ? (255u - 31u) << 23 : (127u - 15u) << 23;
  const uint32_t normal = magnitude + bias;
  const float subnormal = std::bit_cast<float>(magnitude + (113u << 23)) - std::bit_cast<float>(113u << 23);
  const uint32_t bits = exponent == 0 ? std::bit_cast<uint32_t>(subnormal) : normal;
  return std::bit_cast<float>(bits | (half & 0x8000u) << 16);
}
[[gnu::always_inline]] inline float f16_at(const uint8_t* at) { return f16_value(load<uint16_t>(at)); }

[[gnu::always_inline]] inline float bf16_value(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// 2^(code - 127). 255 gives infinity, as MLX computes it.
constexpr float e8m0_value(uint8_t code) {
  return std::bit_cast<float>(code == 0 ? 0x00400000u : static_cast<uint32_t>(code) << 23);
}

/// 4 exponent bits (bias 7), 3 mantissa bits, no infinity; 0x7f and 0xff are NaN.
constexpr float e4m3_value(uint8_t code) {
  const uint32_t sign = (code & 0x80u) << 24;
  const uint32_t magnitude = code & 0x7fu;
  if (magnitude == 0x7f) return std::bit_cast<float>(sign | 0x7fc00000u);
  if (magnitude >= 8) return std::bit_cast<float>(sign | ((magnitude << 20) + (120u << 23)));
  const float value = static_cast<float>(magnitude) * 0x1p-9f;
  return sign != 0 ? -value : value;
}

}  // namespace paceline::blocks
