#pragma once

#include <cstdint>

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
};

}  // namespace paceline::kernels::packed
