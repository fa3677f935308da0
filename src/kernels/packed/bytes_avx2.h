#pragma once

#include "kernels/packed/dot.h"
#include "kernels/vec_avx2.h"

namespace paceline::kernels::packed {

/// The bytes of a tile with AVX2. Contract: bytes_avx512.h.
struct BytesAvx2 {
  using V = VecAvx2;
  using F = V::F;
  struct Bytes {
    __m256i lo, hi;
  };
  static constexpr int kPrefetchBytes = 6144;

  static __m256i load32(const uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void prefetch(const uint8_t* p) { asm volatile("prefetcht0 %a0" : : "p"(p)); }
  static Bytes load(const uint8_t* p) { return {load32(p), load32(p + 32)}; }
  static Bytes right(Bytes a, int n) {
    return {_mm256_srli_epi16(a.lo, n), _mm256_srli_epi16(a.hi, n)};
  }
  static Bytes left(Bytes a, int n) {
    return {_mm256_slli_epi16(a.lo, n), _mm256_slli_epi16(a.hi, n)};
  }
  static Bytes mask(Bytes a, int m) {
    const __m256i bits = _mm256_set1_epi8(static_cast<char>(m));
    return {_mm256_and_si256(a.lo, bits), _mm256_and_si256(a.hi, bits)};
  }
  static Bytes merge(Bytes a, Bytes b) {
    return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
  }
  static Bytes lookup(const uint8_t* table, Bytes index) {
    const __m256i t =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
    return {_mm256_shuffle_epi8(t, index.lo), _mm256_shuffle_epi8(t, index.hi)};
  }

  static __m128i load8(const uint8_t* p) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  }
  static __m256 f16_8(const uint8_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static F load_f16(const uint8_t* p) { return {f16_8(p), f16_8(p + 16)}; }
  static F load_u8(const uint8_t* p) {
    return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load8(p))),
            _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load8(p + 8)))};
  }
  static F load_i8(const uint8_t* p) {
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load8(p))),
            _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load8(p + 8)))};
  }
  static __m256 low4_8(const uint8_t* p) {
    return _mm256_cvtepi32_ps(
        _mm256_and_si256(_mm256_cvtepu8_epi32(load8(p)), _mm256_set1_epi32(15)));
  }
  static F load_low4(const uint8_t* p) { return {low4_8(p), low4_8(p + 8)}; }
  static __m256 high4_8(const uint8_t* p) {
    return _mm256_cvtepi32_ps(_mm256_srli_epi32(_mm256_cvtepu8_epi32(load8(p)), 4));
  }
  static F load_high4(const uint8_t* p) { return {high4_8(p), high4_8(p + 8)}; }
  static __m256 choose(__m256i yes, __m256i no, __m256i where) {
    return _mm256_castsi256_ps(_mm256_blendv_epi8(no, yes, where));
  }
  static __m256 e8m0_8(const uint8_t* p) {
    const __m256i code = _mm256_cvtepu8_epi32(load8(p));
    const __m256i lowest = _mm256_cmpeq_epi32(code, _mm256_setzero_si256());
    return choose(_mm256_set1_epi32(0x00400000), _mm256_slli_epi32(code, 23), lowest);
  }
  static F load_e8m0(const uint8_t* p) { return {e8m0_8(p), e8m0_8(p + 8)}; }
  static __m256 half_e8m0_8(const uint8_t* p) {
    const __m256i code = _mm256_cvtepu8_epi32(load8(p));
    const __m256i low = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), code);
    const __m256i small = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), code);
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(code, _mm256_set1_epi32(1)), 23);
    return choose(small, normal, low);
  }
  static F load_half_e8m0(const uint8_t* p) { return {half_e8m0_8(p), half_e8m0_8(p + 8)}; }
  static __m256 e4m3_8(const uint8_t* p) {
    const __m256i code = _mm256_cvtepu8_epi32(load8(p));
    const __m256i magnitude = _mm256_and_si256(code, _mm256_set1_epi32(0x7f));
    const __m256 value = _mm256_mul_ps(_mm256_castsi256_ps(_mm256_slli_epi32(magnitude, 20)),
                                       _mm256_set1_ps(0x1p120F));
    const __m256i nan = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x7f));
    const __m256 finite = choose(_mm256_set1_epi32(0x7fc00000), _mm256_castps_si256(value), nan);
    const __m256i sign = _mm256_slli_epi32(_mm256_and_si256(code, _mm256_set1_epi32(0x80)), 24);
    return _mm256_or_ps(finite, _mm256_castsi256_ps(sign));
  }
  static F load_e4m3(const uint8_t* p) { return {e4m3_8(p), e4m3_8(p + 8)}; }

  static __m256 quad_floats_8(__m256i quad, int i, int zero) {
    const __m256i code = _mm256_and_si256(_mm256_srli_epi32(quad, 8 * i), _mm256_set1_epi32(255));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(code, _mm256_set1_epi32(zero)));
  }
  static F quad_floats(Bytes quad, int i, int zero) {
    return {quad_floats_8(quad.lo, i, zero), quad_floats_8(quad.hi, i, zero)};
  }

  static int32_t lane_max(__m256i a) {
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
    return _mm_cvtsi128_si32(m);
  }
  static int32_t lane_sum(__m256i a) {
    __m128i m = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    m = _mm_add_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_add_epi32(m, _mm_shuffle_epi32(m, 0xb1));
    return _mm_cvtsi128_si32(m);
  }
  static uint32_t greatest_bits(const float* x) {
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i top = _mm256_setzero_si256();
    for (int i = 0; i < 32; i += 8) {
      const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
      top = _mm256_max_epi32(top, _mm256_and_si256(bits, magnitude));
    }
    return static_cast<uint32_t>(lane_max(top));
  }
  static void round_codes(const float* x, float factor, int8_t* codes, int32_t* sums) {
    for (int half = 0; half < 2; ++half) {
      const float* from = x + 16 * half;
      const __m256 f = _mm256_set1_ps(factor);
      const __m256i low = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(from), f));
      const __m256i high = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(from + 8), f));
      // packs work within 128-bit halves: 0-3 8-11 | 4-7 12-15
      const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
      const __m128i bytes =
          _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + 16 * half), bytes);
      sums[half] = lane_sum(_mm256_add_epi32(low, high));
    }
  }

  // --- products

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
