#pragma once

#include "blocks/scalar.h"
#include "kernels/vec_generic.h"

namespace paceline::kernels::packed {

/// The bytes of a tile in plain C++. Contract: bytes_avx512.h.
struct BytesGeneric {
  using V = VecGeneric;
  using F = V::F;
  struct Bytes {
    uint8_t v[64];
  };
  static constexpr int kPrefetchBytes = 0;

  template <class Op>
  static Bytes each(Op op) {
    Bytes r;
    for (int i = 0; i < 64; ++i) r.v[i] = static_cast<uint8_t>(op(i));
    return r;
  }
  static void prefetch(const uint8_t*) {}
  static Bytes load(const uint8_t* p) {
    return each([&](int i) { return p[i]; });
  }
  static Bytes right(const Bytes& a, int n) {
    return each([&](int i) { return a.v[i] >> n; });
  }
  static Bytes left(const Bytes& a, int n) {
    return each([&](int i) { return a.v[i] << n; });
  }
  static Bytes mask(const Bytes& a, int m) {
    return each([&](int i) { return a.v[i] & m; });
  }
  static Bytes merge(const Bytes& a, const Bytes& b) {
    return each([&](int i) { return a.v[i] | b.v[i]; });
  }
  static Bytes lookup(const uint8_t* table, const Bytes& index) {
    return each([&](int i) { return table[index.v[i]]; });
  }

  template <class Op>
  static F lanes(Op op) {
    return V::each<F>([&](int i) { return static_cast<float>(op(i)); });
  }
  static F load_f16(const uint8_t* p) {
    return lanes([&](int i) { return blocks::f16_at(p + 2 * i); });
  }
  static F load_u8(const uint8_t* p) {
    return lanes([&](int i) { return p[i]; });
  }
  static F load_i8(const uint8_t* p) {
    return lanes([&](int i) { return static_cast<int8_t>(p[i]); });
  }
  static F load_low4(const uint8_t* p) {
    return lanes([&](int i) { return p[i] & 15; });
  }
  static F load_high4(const uint8_t* p) {
    return lanes([&](int i) { return p[i] >> 4; });
  }
  static F load_e8m0(const uint8_t* p) {
    return lanes([&](int i) { return blocks::e8m0_value(p[i]); });
  }
  static float half_e8m0(uint8_t code) {
    const uint32_t normal = (uint32_t{code} - 1U) << 23;
    return std::bit_cast<float>(code < 2 ? 0x00200000U << code : normal);
  }
  static F load_half_e8m0(const uint8_t* p) {
    return lanes([&](int i) { return half_e8m0(p[i]); });
  }
  static F load_e4m3(const uint8_t* p) {
    return lanes([&](int i) { return blocks::e4m3_value(p[i]); });
  }

  static F quad_floats(const Bytes& quad, int i, int zero) {
    return lanes([&](int lane) { return quad.v[lane * 4 + i] - zero; });
  }

  static uint32_t greatest_bits(const float* x) {
    uint32_t top = 0;
    for (int i = 0; i < 32; ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(x[i]) & 0x7fffffffU;
      top = bits > top ? bits : top;
    }
    return top;
  }
  /// |x| <= 128. Adding 1.5 * 2^23 rounds to even and leaves the integer in the low bits.
  static int32_t round_even(float x) {
    const float shifted = x + 12582912.0F;
    return std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(12582912.0F);
  }
  static void round_codes(const float* x, float factor, int8_t* codes, int32_t* sums) {
    for (int half = 0; half < 2; ++half) {
      sums[half] = 0;
      for (int i = 16 * half; i < 16 * half + 16; ++i) {
        const int32_t code = round_even(x[i] * factor);
        codes[i] = static_cast<int8_t>(code);
        sums[half] += code;
      }
    }
  }
};

}  // namespace paceline::kernels::packed
