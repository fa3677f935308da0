#pragma once

#include <immintrin.h>

#include <cstdint>

namespace paceline::kernels {

/// Sixteen f32 lanes as two AVX2 registers. Contract: vec_avx512.h.
struct VecAvx2 {
  static constexpr int kPrefillRows = 6;
  static constexpr int kPrefillTiles = 1;
  static constexpr int kFewRowsTiles = 1;
  static constexpr int kAttendQueries = 6;
  static constexpr int attend_vectors(int queries) {
    return queries == 1 ? 4 : queries == 2 ? 2 : 1;
  }

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
  struct Padded16 {
    uint16_t v[16];
  };
  static Padded16 padded16(const uint16_t* p, int n) {
    Padded16 padded{};
    for (int i = 0; i < n; ++i) padded.v[i] = p[i];
    return padded;
  }
  static F load_bf16_n(const uint16_t* p, int n) { return load_bf16(padded16(p, n).v); }
  static __m256 widen_f16(const uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static F load_f16(const uint16_t* p) { return {widen_f16(p), widen_f16(p + 8)}; }
  static F load_f16_n(const uint16_t* p, int n) { return load_f16(padded16(p, n).v); }
  static void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
  static void prefetch_l2(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

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
  static float first(F a) { return _mm256_cvtss_f32(a.lo); }
  static float sum(F a) {
    const __m256 by8 = _mm256_add_ps(a.lo, a.hi);
    const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
    const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
    return _mm_cvtss_f32(_mm_add_ss(by2, _mm_movehdup_ps(by2)));
  }
  static float largest(F a) {
    const __m256 by8 = _mm256_max_ps(a.lo, a.hi);
    const __m128 by4 = _mm_max_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
    const __m128 by2 = _mm_max_ps(by4, _mm_movehl_ps(by4, by4));
    return _mm_cvtss_f32(_mm_max_ss(by2, _mm_movehdup_ps(by2)));
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
