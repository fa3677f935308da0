#pragma once

#include <immintrin.h>

#include <cstdint>

namespace paceline::kernels {

/// Sixteen f32 lanes with AVX-512. The three wrappers (vec_avx512.h, vec_avx2.h, vec_generic.h)
/// offer the same operations with the same bits: one rounding each, min and max give the second
/// operand when either is NaN. Files that include one call no std templates: their instantiations
/// would be shared with portable code.
struct VecAvx512 {
  /// Register tile of products: rows x tiles of 16 outputs.
  static constexpr int kPrefillRows = 8;
  static constexpr int kPrefillTiles = 3;
  /// Register tile of attention: at most so many queries, and for a number of queries the vectors
  /// of 16 keys or features beside them (1, 2 or 4).
  static constexpr int kAttendQueries = 6;
  static constexpr int attend_vectors(int /*queries*/) { return 4; }
  static constexpr int kFewRowsTiles =
      2;  ///< tiles side by side when all rows fit one register tile

  struct F {
    __m512 v;
  };
  struct I {
    __m512i v;
  };
  struct M {
    __mmask16 v;
  };

  static __mmask16 head(int n) { return static_cast<__mmask16>((1U << n) - 1U); }
  static F zero() { return {_mm512_setzero_ps()}; }
  static F set(float x) { return {_mm512_set1_ps(x)}; }
  static F load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static F load_n(const float* p, int n) { return {_mm512_maskz_loadu_ps(head(n), p)}; }
  static void store(float* p, F a) { _mm512_storeu_ps(p, a.v); }
  static void store_n(float* p, F a, int n) { _mm512_mask_storeu_ps(p, head(n), a.v); }
  static F load_bf16(const uint16_t* p) {
    const __m512i wide =
        _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
  }
  static F load_bf16_n(const uint16_t* p, int n) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(head(n), p));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
  }
  static F load_f16(const uint16_t* p) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
  static F load_f16_n(const uint16_t* p, int n) {
    return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(head(n), p))};
  }
  static void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
  static void prefetch_l2(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

  static F add(F a, F b) { return {_mm512_add_ps(a.v, b.v)}; }
  static F sub(F a, F b) { return {_mm512_sub_ps(a.v, b.v)}; }
  static F mul(F a, F b) { return {_mm512_mul_ps(a.v, b.v)}; }
  static F div(F a, F b) { return {_mm512_div_ps(a.v, b.v)}; }
  static F fma(F a, F b, F c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  static F min(F a, F b) { return {_mm512_min_ps(a.v, b.v)}; }
  static F max(F a, F b) { return {_mm512_max_ps(a.v, b.v)}; }
  static M less(F a, F b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
  static M lanes(uint32_t bits) { return {static_cast<__mmask16>(bits)}; }
  static F select(M m, F yes, F no) { return {_mm512_mask_blend_ps(m.v, no.v, yes.v)}; }
  static float first(F a) { return _mm512_cvtss_f32(a.v); }
  /// Lanes in a fixed tree: i + (i + 8), then + 4, + 2, + 1.
  static float sum(F a) {
    const __m256 by8 = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
    const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
    const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
    return _mm_cvtss_f32(_mm_add_ss(by2, _mm_movehdup_ps(by2)));
  }
  /// No lane may be NaN.
  static float largest(F a) {
    const __m256 by8 = _mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
    const __m128 by4 = _mm_max_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
    const __m128 by2 = _mm_max_ps(by4, _mm_movehl_ps(by4, by4));
    return _mm_cvtss_f32(_mm_max_ss(by2, _mm_movehdup_ps(by2)));
  }

  static I bits(F a) { return {_mm512_castps_si512(a.v)}; }
  static F from_bits(I a) { return {_mm512_castsi512_ps(a.v)}; }
  static I iset(int32_t x) { return {_mm512_set1_epi32(x)}; }
  static I iadd(I a, I b) { return {_mm512_add_epi32(a.v, b.v)}; }
  static I isub(I a, I b) { return {_mm512_sub_epi32(a.v, b.v)}; }
  static I iand(I a, I b) { return {_mm512_and_si512(a.v, b.v)}; }
  static I ior(I a, I b) { return {_mm512_or_si512(a.v, b.v)}; }
  static I half(I a) { return {_mm512_srai_epi32(a.v, 1)}; }
  static I to_exponent(I a) { return {_mm512_slli_epi32(a.v, 23)}; }
};

}  // namespace paceline::kernels
