#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "blocks/scalar.h"

namespace paceline::kernels {

/// Sixteen f32 lanes in plain C++. Contract: vec_avx512.h.
struct VecGeneric {
  static constexpr int kPrefillRows = 4;
  static constexpr int kPrefillTiles = 1;
  static constexpr int kFewRowsTiles = 1;
  static constexpr int kAttendQueries = 2;
  static constexpr int attend_vectors(int /*queries*/) { return 1; }
  static constexpr int kLanes = 16;

  struct F {
    float v[kLanes];
  };
  struct I {
    int32_t v[kLanes];
  };
  struct M {
    bool v[kLanes];
  };

  template <class R, class Op>
  static R each(Op op) {
    R r;
    for (int i = 0; i < kLanes; ++i) r.v[i] = op(i);
    return r;
  }

  static F zero() { return set(0.0F); }
  static F set(float x) {
    return each<F>([&](int) { return x; });
  }
  static F load(const float* p) {
    return each<F>([&](int i) { return p[i]; });
  }
  static F load_n(const float* p, int n) {
    return each<F>([&](int i) { return i < n ? p[i] : 0.0F; });
  }
  static void store(float* p, F a) { store_n(p, a, kLanes); }
  static void store_n(float* p, F a, int n) {
    for (int i = 0; i < kLanes && i < n; ++i) p[i] = a.v[i];
  }
  static F load_bf16(const uint16_t* p) {
    return each<F>([&](int i) { return std::bit_cast<float>(static_cast<uint32_t>(p[i]) << 16); });
  }
  static F load_bf16_n(const uint16_t* p, int n) {
    return each<F>([&](int i) { return i < n ? blocks::bf16_value(p[i]) : 0.0F; });
  }
  static F load_f16(const uint16_t* p) { return load_f16_n(p, kLanes); }
  static F load_f16_n(const uint16_t* p, int n) {
    return each<F>([&](int i) { return i < n ? blocks::f16_value(p[i]) : 0.0F; });
  }
  static void prefetch(const void*) {}
  static void prefetch_l2(const void*) {}

  static F add(F a, F b) {
    return each<F>([&](int i) { return a.v[i] + b.v[i]; });
  }
  static F sub(F a, F b) {
    return each<F>([&](int i) { return a.v[i] - b.v[i]; });
  }
  static F mul(F a, F b) {
    return each<F>([&](int i) { return a.v[i] * b.v[i]; });
  }
  static F div(F a, F b) {
    return each<F>([&](int i) { return a.v[i] / b.v[i]; });
  }
  static F fma(F a, F b, F c) {
    return each<F>([&](int i) { return std::fma(a.v[i], b.v[i], c.v[i]); });
  }
  static F min(F a, F b) {
    return each<F>([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
  }
  static F max(F a, F b) {
    return each<F>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
  }
  static M less(F a, F b) {
    return each<M>([&](int i) { return a.v[i] < b.v[i]; });
  }
  static M lanes(uint32_t bits) {
    return each<M>([&](int i) { return ((bits >> i) & 1U) != 0; });
  }
  static F select(M m, F yes, F no) {
    return each<F>([&](int i) { return m.v[i] ? yes.v[i] : no.v[i]; });
  }
  static float first(F a) { return a.v[0]; }
  static float sum(F a) {
    for (int width = kLanes / 2; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) a.v[i] += a.v[i + width];
    }
    return a.v[0];
  }
  static float largest(F a) {
    float best = a.v[0];
    for (int i = 1; i < kLanes; ++i) best = a.v[i] > best ? a.v[i] : best;
    return best;
  }

  static I bits(F a) {
    return each<I>([&](int i) { return std::bit_cast<int32_t>(a.v[i]); });
  }
  static F from_bits(I a) {
    return each<F>([&](int i) { return std::bit_cast<float>(a.v[i]); });
  }
  static I iset(int32_t x) {
    return each<I>([&](int) { return x; });
  }
  static int32_t wrap(uint32_t x) { return static_cast<int32_t>(x); }
  static uint32_t raw(int32_t x) { return static_cast<uint32_t>(x); }
  static I iadd(I a, I b) {
    return each<I>([&](int i) { return wrap(raw(a.v[i]) + raw(b.v[i])); });
  }
  static I isub(I a, I b) {
    return each<I>([&](int i) { return wrap(raw(a.v[i]) - raw(b.v[i])); });
  }
  static I iand(I a, I b) {
    return each<I>([&](int i) { return a.v[i] & b.v[i]; });
  }
  static I ior(I a, I b) {
    return each<I>([&](int i) { return a.v[i] | b.v[i]; });
  }
  static I half(I a) {
    return each<I>([&](int i) { return a.v[i] >> 1; });
  }
  static I to_exponent(I a) {
    return each<I>([&](int i) { return wrap(raw(a.v[i]) << 23); });
  }
};

}  // namespace paceline::kernels
