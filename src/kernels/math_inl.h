#pragma once

#include <cstdint>

namespace paceline::kernels {

/// exp, tanh, the activations and the one reduction, over the lanes of a wrapper V: the same
/// sequence of roundings in every instruction set.
///
/// exp: n = round(x log2 e), r = x - n ln 2 in two fused steps, 1 + r + r^2 P(r) with P of degree
/// 5, then times 2^(n/2) twice, so that results reach from denormals to infinity. Within 2 ulp for
/// normal results; exp(-inf) = 0, exp(x > 88.73) = inf, exp(NaN) = NaN. Coefficients: Cephes expf.
template <class V>
struct Math {
  using F = typename V::F;
  using I = typename V::I;

  static F exp(F x) {
    constexpr float kMagic =
        12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer held in the low bits
    const F clamped = V::max(V::set(-104.0F), V::min(V::set(89.0F), x));
    const F shifted = V::fma(clamped, V::set(1.44269504088896341F), V::set(kMagic));
    const I n = V::isub(V::bits(shifted), V::bits(V::set(kMagic)));
    const F n_f = V::sub(shifted, V::set(kMagic));
    F r = V::fma(n_f, V::set(-0.693359375F), clamped);
    r = V::fma(n_f, V::set(2.12194440e-4F), r);
    F p = V::set(1.9875691500e-4F);
    p = V::fma(p, r, V::set(1.3981999507e-3F));
    p = V::fma(p, r, V::set(8.3334519073e-3F));
    p = V::fma(p, r, V::set(4.1665795894e-2F));
    p = V::fma(p, r, V::set(1.6666665459e-1F));
    p = V::fma(p, r, V::set(5.0000001201e-1F));
    p = V::add(V::fma(p, V::mul(r, r), r), V::set(1.0F));
    const I half = V::half(n);
    return V::mul(V::mul(p, power_of_two(half)), power_of_two(V::isub(n, half)));
  }

  /// Below 0.625 an odd polynomial (Cephes tanhf), above it 1 - 2 / (exp(2 |x|) + 1) with the sign
  /// of x.
  static F tanh(F x) {
    const I sign = V::iand(V::bits(x), V::iset(INT32_MIN));
    const F a = V::from_bits(V::iand(V::bits(x), V::iset(INT32_MAX)));
    const F z = V::mul(x, x);
    F p = V::set(-5.70498872745e-3F);
    p = V::fma(p, z, V::set(2.06390887954e-2F));
    p = V::fma(p, z, V::set(-5.37397155531e-2F));
    p = V::fma(p, z, V::set(1.33314422036e-1F));
    p = V::fma(p, z, V::set(-3.33332819422e-1F));
    const F small = V::fma(V::mul(p, z), x, x);
    const F e = V::add(exp(V::add(a, a)), V::set(1.0F));
    const F large = V::sub(V::set(1.0F), V::div(V::set(2.0F), e));
    const F signed_large = V::from_bits(V::ior(V::bits(large), sign));
    return V::select(V::less(a, V::set(0.625F)), small, signed_large);
  }

  static F silu(F x) { return V::div(x, V::add(V::set(1.0F), exp(V::sub(V::zero(), x)))); }

  static F gelu_tanh(F x) {
    const F cube = V::mul(V::mul(x, x), x);
    const F inner = V::mul(V::set(0.79788456080286536F), V::fma(V::set(0.044715F), cube, x));
    return V::mul(V::mul(V::set(0.5F), x), V::add(V::set(1.0F), tanh(inner)));
  }

  /// Lanes 0..15 in a fixed tree: i + (i + 8), then + 4, + 2, + 1.
  static float sum(F a) {
    float lane[16];
    V::store(lane, a);
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
    }
    return lane[0];
  }

  static float largest(F a) {
    float lane[16];
    V::store(lane, a);
    float best = lane[0];
    for (int i = 1; i < 16; ++i) best = lane[i] > best ? lane[i] : best;
    return best;
  }

 private:
  static F power_of_two(I n) { return V::from_bits(V::to_exponent(V::iadd(n, V::iset(127)))); }
};

}  // namespace paceline::kernels
