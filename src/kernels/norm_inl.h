#pragma once

#include "kernels/math_inl.h"
#include "kernels/norm_kernel.h"

namespace paceline::kernels {

/// rms_norm's sum of squares: lane i takes elements i, i + 16, ... by one chain of fused
/// multiply-adds, then the lanes are added in the fixed tree of Math::sum. r = 1 / sqrt(sum / width
/// + eps) with one rounding per operation; y = (x r) (weight + offset) (+ residual).
template <class V>
struct NormKernel {
  using F = typename V::F;

  static int part(int64_t left) { return left < 16 ? static_cast<int>(left) : 16; }

  static void row(const NormArgs& a, int64_t row) {
    const float* x = a.x + row * a.width;
    F squares = V::zero();
    for (int64_t i = 0; i < a.width; i += 16) {
      const F value = V::load_n(x + i, part(a.width - i));
      squares = V::fma(value, value, squares);
    }
    const float mean = Math<V>::sum(squares) / static_cast<float>(a.width);
    const F scale = V::set(1.0F / __builtin_sqrtf(mean + a.eps));
    for (int64_t i = 0; i < a.width; i += 16) {
      const int n = part(a.width - i);
      const F weight = V::add(V::load_n(a.weight + i, n), V::set(a.weight_offset));
      F y = V::mul(V::mul(V::load_n(x + i, n), scale), weight);
      if (a.residual != nullptr) y = V::add(y, V::load_n(a.residual + row * a.width + i, n));
      V::store_n(a.out + row * a.width + i, y, n);
    }
  }

  static void rms_norm(const NormArgs& a, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) row(a, r);
  }

  static void add(const float* a, const float* b, float* out, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += 16) {
      const int n = part(end - i);
      V::store_n(out + i, V::add(V::load_n(a + i, n), V::load_n(b + i, n)), n);
    }
  }

  static void softcap(const float* x, float cap, float* out, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += 16) {
      const int n = part(end - i);
      const F t = Math<V>::tanh(V::div(V::load_n(x + i, n), V::set(cap)));
      V::store_n(out + i, V::mul(V::set(cap), t), n);
    }
  }

  static void exp(const float* x, float* out, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += 16) {
      const int n = part(end - i);
      V::store_n(out + i, Math<V>::exp(V::load_n(x + i, n)), n);
    }
  }

  static const NormTable& table() {
    static constexpr NormTable kTable{&rms_norm, &add, &softcap, &exp};
    return kTable;
  }
};

}  // namespace paceline::kernels
