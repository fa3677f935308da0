#pragma once

#include "kernels/packed/bytes_avx512.h"
#include "kernels/packed/dot.h"

namespace paceline::kernels::packed {

/// Products of a chunk with rows of codes with AVX-512 VNNI. Contract: packed::DotArgs.
struct DotAvx512 : BytesAvx512 {
  /// Rows that a product takes at once.
  static constexpr int kRowSteps[] = {1, 2, 4, 6, 8};

  static __m512i quad_of_row(const int8_t* p) {
    int32_t four;
    __builtin_memcpy(&four, p, 4);
    return _mm512_set1_epi32(four);
  }

  template <int R, class C>
  static void dot(const DotArgs& a, const C& chunk) {
    constexpr int kQuads = 8 / C::kSubs;
    __m512 acc[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) acc[r] = _mm512_loadu_ps(a.acc + r * 16);
    const __m512i minus_zero = _mm512_set1_epi32(-chunk.zero());
    for (int g = 0; g < a.groups; ++g) {
      const int8_t* x = a.codes + g * a.stride * 32;
      if (a.first) chunk.prefetch(g);
#pragma GCC unroll 2
      for (int s = 0; s < C::kSubs; ++s) {
        const int group = g * C::kSubs + s;
        __m512i sum[R];
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          sum[r] = C::kMins ? _mm512_setzero_si512()
                            : _mm512_mullo_epi32(_mm512_set1_epi32(a.sums[group * a.stride + r]),
                                                 minus_zero);
        }
#pragma GCC unroll 8
        for (int q = s * kQuads; q < (s + 1) * kQuads; ++q) {
          const __m512i w = chunk.quad(g, q);
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) {
            sum[r] = _mm512_dpbusd_epi32(sum[r], w, quad_of_row(x + r * 32 + q * 4));
          }
        }
        const __m512 scale = chunk.scale(group).v;
        const float* x_scales = a.scales + g * a.stride;
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          const __m512 both = _mm512_mul_ps(scale, _mm512_set1_ps(x_scales[r]));
          acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[r]), both, acc[r]);
        }
        if constexpr (C::kMins) {
          const __m512 min = chunk.min(group).v;
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) {
            const __m512 x_sum = _mm512_set1_ps(a.scaled_sums[group * a.stride + r]);
            acc[r] = _mm512_fmadd_ps(min, x_sum, acc[r]);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) _mm512_storeu_ps(a.acc + r * 16, acc[r]);
  }
};

}  // namespace paceline::kernels::packed
