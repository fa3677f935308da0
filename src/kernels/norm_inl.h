#pragma once

#include "kernels/math_inl.h"
#include "kernels/norm_kernel.h"

namespace paceline::kernels {

/// Sums over a row: lane i takes elements i, i + 16, ... by one chain, then the lanes are added in
/// the fixed tree of Math::sum. The orders of operations are those of norm.h.
template <class V>
struct NormKernel {
  using F = typename V::F;

  static int part(int64_t left) { return left < 16 ? static_cast<int>(left) : 16; }

  /// The first n lanes of x, `rest` in the others.
  static F head(F x, int n, float rest) {
    return V::select(V::lanes((1U << n) - 1U), x, V::set(rest));
  }

  static F inverse_root(F squares, int64_t width, float eps) {
    const float mean = Math<V>::sum(squares) / static_cast<float>(width);
    return V::set(1.0F / __builtin_sqrtf(mean + eps));
  }

  static void row(const NormArgs& a, int64_t row) {
    const float* x = a.x + row * a.width;
    F squares = V::zero();
    for (int64_t i = 0; i < a.width; i += 16) {
      const F value = V::load_n(x + i, part(a.width - i));
      squares = V::fma(value, value, squares);
    }
    const F scale = inverse_root(squares, a.width, a.eps);
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

  static void layer_row(const LayerNormArgs& a, const float* x, float* out) {
    F sum = V::zero();
    for (int64_t i = 0; i < a.width; i += 16) {
      sum = V::add(sum, V::load_n(x + i, part(a.width - i)));
    }
    const F mean = V::set(Math<V>::sum(sum) / static_cast<float>(a.width));
    F squares = V::zero();
    for (int64_t i = 0; i < a.width; i += 16) {
      const int n = part(a.width - i);
      const F centred = head(V::sub(V::load_n(x + i, n), mean), n, 0.0F);
      squares = V::fma(centred, centred, squares);
    }
    const F scale = inverse_root(squares, a.width, a.eps);
    for (int64_t i = 0; i < a.width; i += 16) {
      const int n = part(a.width - i);
      const F centred = V::sub(V::load_n(x + i, n), mean);
      F y = V::mul(V::mul(centred, scale), V::load_n(a.weight + i, n));
      if (a.bias != nullptr) y = V::add(y, V::load_n(a.bias + i, n));
      V::store_n(out + i, y, n);
    }
  }

  static void layer_norm(const LayerNormArgs& a, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) layer_row(a, a.x + r * a.width, a.out + r * a.width);
  }

  static void log_softmax_row(const LogSoftmaxArgs& a, const float* x, float* out) {
    F best = V::set(-__builtin_inff());
    for (int64_t i = 0; i < a.width; i += 16) {
      const int n = part(a.width - i);
      best = V::max(best, head(V::load_n(x + i, n), n, -__builtin_inff()));
    }
    const F max = V::set(Math<V>::largest(best));
    F sum = V::zero();
    for (int64_t i = 0; i < a.width; i += 16) {
      const int n = part(a.width - i);
      const F power = Math<V>::exp(V::sub(V::load_n(x + i, n), max));
      sum = V::add(sum, head(power, n, 0.0F));
    }
    const F log_sum = V::set(a.log(Math<V>::sum(sum)));
    for (int64_t i = 0; i < a.width; i += 16) {
      const int n = part(a.width - i);
      V::store_n(out + i, V::sub(V::sub(V::load_n(x + i, n), max), log_sum), n);
    }
  }

  static void log_softmax(const LogSoftmaxArgs& a, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      log_softmax_row(a, a.x + r * a.width, a.out + r * a.width);
    }
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
    static constexpr NormTable kTable{&rms_norm, &layer_norm, &log_softmax, &add, &softcap, &exp};
    return kTable;
  }
};

}  // namespace paceline::kernels
