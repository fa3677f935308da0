#pragma once

#include <immintrin.h>

#include <cstdint>

namespace paceline::kernels {

/// Sixteen f32 lanes as two AVX2 registers. Contract: vec_avx512.h.
struct VecAvx2 {
  static constexpr int kPrefillRows = 6;
  static constexpr int kPrefillTiles = 1;
  static constexpr int kFewRowsTiles = 1;
  static constexpr int kAttendQueries = 3;
  static constexpr int kAttendVectors = 2;

  struct F {
    __m256 lo, hi;
  };
  struct I {
    __m256i lo, hi;
  };
  using M = F;

  static __m256i head8(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static F zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static F set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static F load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static F load_n(const float* p, int n) {
    return {_mm256_maskload_ps(p, head8(n)), _mm256_maskload_ps(p + 8, head8(n - 8))};
  }
  static void store(float* p, F a) {
    _mm256_storeu_ps(p, a.lo);
    _mm256_storeu_ps(p + 8, a.hi);
  }
  static void store_n(float* p, F a, int n) {
    _mm256_maskstore_ps(p, head8(n), a.lo);
    _mm256_maskstore_ps(p + 8, head8(n - 8), a.hi);
  }
  static __m256 widen_bf16(const uint16_t* p) {
    const __m256i wide =
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
  static F load_bf16(const uint16_t* p) { return {widen_bf16(p), widen_bf16(p + 8)}; }
  static void transpose8(const __m256* rows, float* out, int64_t stride) {
    __m256 t[8];
#pragma GCC unroll 2
    for (int j = 0; j < 8; j += 4) {  // half L of t[j + c] = column 4 L + c of rows j..j+3
      const __m256 low01 = _mm256_unpacklo_ps(rows[j], rows[j + 1]);
      const __m256 high01 = _mm256_unpackhi_ps(rows[j], rows[j + 1]);
      const __m256 low23 = _mm256_unpacklo_ps(rows[j + 2], rows[j + 3]);
      const __m256 high23 = _mm256_unpackhi_ps(rows[j + 2], rows[j + 3]);
      t[j] = _mm256_shuffle_ps(low01, low23, 0x44);
      t[j + 1] = _mm256_shuffle_ps(low01, low23, 0xee);
      t[j + 2] = _mm256_shuffle_ps(high01, high23, 0x44);
      t[j + 3] = _mm256_shuffle_ps(high01, high23, 0xee);
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      _mm256_storeu_ps(out + c * stride, _mm256_permute2f128_ps(t[c], t[4 + c], 0x20));
      _mm256_storeu_ps(out + (4 + c) * stride, _mm256_permute2f128_ps(t[c], t[4 + c], 0x31));
    }
  }
  static void transpose(const F* rows, float* out, int64_t stride) {
#pragma GCC unroll 2
    for (int r = 0; r < 16; r += 8) {
      __m256 low[8], high[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        low[i] = rows[r + i].lo;
        high[i] = rows[r + i].hi;
      }
      transpose8(low, out + r, stride);
      transpose8(high, out + 8 * stride + r, stride);
    }
  }
  static void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

  static F add(F a, F b) { return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
  static F sub(F a, F b) { return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
  static F mul(F a, F b) { return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
  static F div(F a, F b) { return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
  static F fma(F a, F b, F c) {
    return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
  }
  static F min(F a, F b) { return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)}; }
  static F max(F a, F b) { return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
  static M less(F a, F b) {
    return {_mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ)};
  }
  static __m256 lanes8(uint32_t bits) {
    const __m256i one = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i hit = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), one);
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(hit, one));
  }
  static M lanes(uint32_t bits) { return {lanes8(bits), lanes8(bits >> 8)}; }
  static F select(M m, F yes, F no) {
    return {_mm256_blendv_ps(no.lo, yes.lo, m.lo), _mm256_blendv_ps(no.hi, yes.hi, m.hi)};
  }

  static I bits(F a) { return {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)}; }
  static F from_bits(I a) { return {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)}; }
  static I iset(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
  static I iadd(I a, I b) { return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)}; }
  static I isub(I a, I b) { return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)}; }
  static I iand(I a, I b) { return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
  static I ior(I a, I b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
  static I half(I a) { return {_mm256_srai_epi32(a.lo, 1), _mm256_srai_epi32(a.hi, 1)}; }
  static I to_exponent(I a) { return {_mm256_slli_epi32(a.lo, 23), _mm256_slli_epi32(a.hi, 23)}; }
};

}  // namespace paceline::kernels
