#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/test_support.h"

/// Scalar references of the written orders (norm.h, math_inl.h, rope.h), and values that break
/// arithmetic.
namespace paceline::kernels::testing {

inline float reference_exp(float x) {
  constexpr float kMagic = 0x1.8p23F;
  const float low = 89.0F < x ? 89.0F : x;
  const float clamped = -104.0F > low ? -104.0F : low;
  const float shifted = std::fma(clamped, 1.44269504088896341F, kMagic);
  const auto n =
      static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kMagic));
  const float n_f = shifted - kMagic;
  const float r = std::fma(n_f, 2.12194440e-4F, std::fma(n_f, -0.693359375F, clamped));
  float p = 1.9875691500e-4F;
  for (const float c :
       {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F}) {
    p = std::fma(p, r, c);
  }
  p = std::fma(p, r * r, r) + 1.0F;
  const auto power = [](int32_t e) {
    return std::bit_cast<float>((static_cast<uint32_t>(e) + 127U) << 23);
  };
  return p * power(n >> 1) * power(n - (n >> 1));
}

inline float reference_tanh(float x) {
  const float a = std::fabs(x);
  if (!(a < 0.625F)) {
    return std::copysign(1.0F - 2.0F / (reference_exp(a + a) + 1.0F), x);
  }
  const float z = x * x;
  float p = -5.70498872745e-3F;
  for (const float c :
       {2.06390887954e-2F, -5.37397155531e-2F, 1.33314422036e-1F, -3.33332819422e-1F}) {
    p = std::fma(p, z, c);
  }
  return std::fma(p * z, x, x);
}

inline float reference_silu(float x) { return x / (1.0F + reference_exp(0.0F - x)); }

inline float reference_gelu_tanh(float x) {
  const float inner = 0.79788456080286536F * std::fma(0.044715F, x * x * x, x);
  return 0.5F * x * (1.0F + reference_tanh(inner));
}

/// Lanes of 16 added as i + (i + 8), then + 4, + 2, + 1.
inline float reference_tree(float* lane) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return lane[0];
}

/// Rows of `width`: zeros, -0, all equal, denormals, limits, infinities, NaN, one element that
/// outweighs the others.
inline std::vector<float> hard_rows(std::size_t width) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kMost = std::numeric_limits<float>::max();
  std::vector<float> rows;
  for (const float fill : {0.0F, -0.0F, 3.25F, 1e-41F, -1e-45F, 1e19F, kMost, -kMost, -kInf}) {
    rows.insert(rows.end(), width, fill);
  }
  for (const float odd : {kInf, -kInf, NAN, kMost, -1e-40F, -0.0F}) {
    for (const std::size_t at : {std::size_t{0}, width / 2, width - 1}) {
      auto row = random_floats(width, 31, 2.0F);
      row[at] = odd;
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  for (std::size_t i = 0; i < width; ++i) rows.push_back(i % 2 == 0 ? 1e-39F : -0.0F);
  return rows;
}

/// Equal bits, or NaN in both: the sign and payload of a NaN are the instruction set's own.
inline bool same_bits_or_nan(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i]);
    if (!same && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return true;
}

/// Calls check(context) for every instruction set of the machine and 1 and 2 threads.
template <class Check>
void on_every_context(const Check& check) {
  for (const Isa isa : machine_isas()) {
    for (const int threads : {1, 2}) check(make_context(threads, isa, false));
  }
}

}  // namespace paceline::kernels::testing
