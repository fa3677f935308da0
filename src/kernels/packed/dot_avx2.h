#pragma once

#include "kernels/packed/bytes_avx2.h"
#include "kernels/packed/dot.h"

namespace paceline::kernels::packed {

/// Products of a chunk with rows of codes with AVX2. Contract: packed::DotArgs.
struct DotAvx2 : BytesAvx2 {
  static constexpr int kRowSteps[] = {1, 2, 4};

  static __m256i quad_of_row(const int8_t* p) {
    int32_t four;
    __builtin_memcpy(&four, p, 4);
    return _mm256_set1_epi32(four);
  }

  template <int Half>
  static __m256i half(const Bytes& a) {
    return Half == 0 ? a.lo : a.hi;
  }
  template <int Half>
  static __m256 half(const F& a) {
    return Half == 0 ? a.lo : a.hi;
  }

  /// Adds the products of one group (quads of `g` from `first` on) and 8 outputs to sum[R]. Pairs
  /// of products are summed in 16 bits over as many quads as cannot overflow: 8 for codes to 15, 4
  /// to 31, 2 to 63.
  template <int R, int Half, class C>
  static void add_unsigned(const C& chunk, int g, int first, const int8_t* x, __m256i* sum) {
    constexpr int kQuads = 8 / C::kSubs;
    constexpr int kSafe = C::kCodeMax <= 15 ? 8 : C::kCodeMax <= 31 ? 4 : 2;
    constexpr int kStep = kSafe < kQuads ? kSafe : kQuads;
    const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
    for (int begin = 0; begin < kQuads; begin += kStep) {
      __m256i pairs[R];
#pragma GCC unroll 8
      for (int q = begin; q < begin + kStep; ++q) {
        const __m256i code = half<Half>(chunk.quad(g, first + q));
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
          const __m256i row = quad_of_row(x + r * 32 + (first + q) * 4);
          const __m256i two = _mm256_maddubs_epi16(code, row);
          pairs[r] = q == begin ? two : _mm256_add_epi16(pairs[r], two);
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(pairs[r], ones));
      }
    }
  }

  /// The same for codes to 255, taken as signed bytes (code - 128).
  template <int R, int Half, class C>
  static void add_signed(const C& chunk, int g, int first, const int8_t* x, __m256i* sum) {
    const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
    for (int q = first; q < first + 8 / C::kSubs; ++q) {
      const __m256i code = _mm256_xor_si256(half<Half>(chunk.quad(g, q)), _mm256_set1_epi8(-128));
      const __m256i size = _mm256_abs_epi8(code);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const __m256i row = _mm256_sign_epi8(quad_of_row(x + r * 32 + q * 4), code);
        const __m256i pairs = _mm256_maddubs_epi16(size, row);
        sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(pairs, ones));
      }
    }
  }

  /// Eight of the sixteen outputs of group `group`.
  template <int R, int Half, class C>
  static void add_group(const DotArgs& a, const C& chunk, int group, __m256* acc) {
    constexpr bool kSigned = C::kCodeMax > 63;
    const int g = group / C::kSubs;
    const int first = group % C::kSubs * (8 / C::kSubs);
    const __m256i offset = _mm256_set1_epi32(kSigned ? 128 - chunk.zero() : -chunk.zero());
    const int8_t* x = a.codes + g * a.stride * 32;
    __m256i sum[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const __m256i x_sum = _mm256_set1_epi32(a.sums[group * a.stride + r]);
      sum[r] = C::kMins && !kSigned ? _mm256_setzero_si256() : _mm256_mullo_epi32(x_sum, offset);
    }
    if constexpr (kSigned) {
      add_signed<R, Half>(chunk, g, first, x, sum);
    } else {
      add_unsigned<R, Half>(chunk, g, first, x, sum);
    }
    const __m256 scale = half<Half>(chunk.scale(group));
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const __m256 both = _mm256_mul_ps(scale, _mm256_set1_ps(a.scales[g * a.stride + r]));
      acc[r] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[r]), both, acc[r]);
    }
    if constexpr (C::kMins) {
      const __m256 min = half<Half>(chunk.min(group));
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const __m256 x_sum = _mm256_set1_ps(a.scaled_sums[group * a.stride + r]);
        acc[r] = _mm256_fmadd_ps(min, x_sum, acc[r]);
      }
    }
  }

  template <int R, int Half, class C>
  static void dot_half(const DotArgs& a, const C& chunk) {
    __m256 acc[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) acc[r] = _mm256_loadu_ps(a.acc + r * 16 + Half * 8);
    for (int group = 0; group < a.groups * C::kSubs; ++group) {
      if (Half == 0 && a.first && group % C::kSubs == 0) chunk.prefetch(group / C::kSubs);
      add_group<R, Half>(a, chunk, group, acc);
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) _mm256_storeu_ps(a.acc + r * 16 + Half * 8, acc[r]);
  }

  template <int R, class C>
  static void dot(const DotArgs& a, const C& chunk) {
    dot_half<R, 0>(a, chunk);
    dot_half<R, 1>(a, chunk);
  }
};

}  // namespace paceline::kernels::packed
