#pragma once

#include <cstdint>

#include "kernels/vec_avx512.h"

namespace paceline::kernels::packed {

/// The bytes of a tile with AVX-512 (BW, VNNI). The three wrappers (bytes_avx512.h, bytes_avx2.h,
/// bytes_generic.h) offer the same operations with the same bits.
struct BytesAvx512 {
  using V = VecAvx512;
  using F = V::F;
  using Bytes = __m512i;
  static constexpr int kPrefetchBytes = 6144;

  /// Stays where it is written: a burst of prefetches would stall the loads.
  static void prefetch(const uint8_t* p) { asm volatile("prefetcht0 %a0" : : "p"(p)); }
  static Bytes load(const uint8_t* p) { return _mm512_loadu_si512(p); }
  /// Shifts in 16-bit steps: bits that cross a byte are masked away by the caller.
  static Bytes right(Bytes a, int n) { return _mm512_srli_epi16(a, static_cast<unsigned>(n)); }
  static Bytes left(Bytes a, int n) { return _mm512_slli_epi16(a, static_cast<unsigned>(n)); }
  static Bytes mask(Bytes a, int m) {
    return _mm512_and_si512(a, _mm512_set1_epi8(static_cast<char>(m)));
  }
  static Bytes merge(Bytes a, Bytes b) { return _mm512_or_si512(a, b); }
  static Bytes lookup(const uint8_t* table, Bytes index) {
    const __m128i t = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(t), index);
  }

  static __m128i load16(const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static F load_f16(const uint8_t* p) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
  static F load_u8(const uint8_t* p) {
    return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(load16(p)))};
  }
  static F load_i8(const uint8_t* p) {
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load16(p)))};
  }
  static F load_low4(const uint8_t* p) {
    return {_mm512_cvtepi32_ps(
        _mm512_and_si512(_mm512_cvtepu8_epi32(load16(p)), _mm512_set1_epi32(15)))};
  }
  static F load_high4(const uint8_t* p) {
    return {_mm512_cvtepi32_ps(_mm512_srli_epi32(_mm512_cvtepu8_epi32(load16(p)), 4))};
  }
  /// 2^(code - 127); 255 is infinity.
  static F load_e8m0(const uint8_t* p) {
    const __m512i code = _mm512_cvtepu8_epi32(load16(p));
    const __mmask16 lowest = _mm512_cmpeq_epi32_mask(code, _mm512_setzero_si512());
    const __m512i bits =
        _mm512_mask_mov_epi32(_mm512_slli_epi32(code, 23), lowest, _mm512_set1_epi32(0x00400000));
    return {_mm512_castsi512_ps(bits)};
  }
  /// 2^(code - 128), finite for 255.
  static F load_half_e8m0(const uint8_t* p) {
    const __m512i code = _mm512_cvtepu8_epi32(load16(p));
    const __mmask16 low = _mm512_cmplt_epi32_mask(code, _mm512_set1_epi32(2));
    const __m512i small = _mm512_sllv_epi32(_mm512_set1_epi32(0x00200000), code);
    const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(code, _mm512_set1_epi32(1)), 23);
    return {_mm512_castsi512_ps(_mm512_mask_mov_epi32(normal, low, small))};
  }
  static F load_e4m3(const uint8_t* p) {
    const __m512i code = _mm512_cvtepu8_epi32(load16(p));
    const __m512i magnitude = _mm512_and_si512(code, _mm512_set1_epi32(0x7f));
    const __m512 value = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_slli_epi32(magnitude, 20)),
                                       _mm512_set1_ps(0x1p120F));
    const __mmask16 nan = _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x7f));
    const __m512i bits =
        _mm512_mask_mov_epi32(_mm512_castps_si512(value), nan, _mm512_set1_epi32(0x7fc00000));
    const __m512i sign = _mm512_slli_epi32(_mm512_and_si512(code, _mm512_set1_epi32(0x80)), 24);
    return {_mm512_castsi512_ps(_mm512_or_si512(bits, sign))};
  }

  /// float(code - zero) of input `i` of a quad.
  static F quad_floats(Bytes quad, int i, int zero) {
    const __m512i code = _mm512_and_si512(_mm512_srli_epi32(quad, static_cast<unsigned>(8 * i)),
                                          _mm512_set1_epi32(255));
    return {_mm512_cvtepi32_ps(_mm512_sub_epi32(code, _mm512_set1_epi32(zero)))};
  }

  /// Bits of the greatest |x| of 32 values; an infinity or a NaN exceeds every number.
  static uint32_t greatest_bits(const float* x) {
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    const __m512i a = _mm512_and_si512(_mm512_loadu_si512(x), magnitude);
    const __m512i b = _mm512_and_si512(_mm512_loadu_si512(x + 16), magnitude);
    return static_cast<uint32_t>(_mm512_reduce_max_epi32(_mm512_max_epi32(a, b)));
  }
  /// codes = round to even (x * factor); returns the sums of the two halves in sums[0..1].
  static void round_codes(const float* x, float factor, int8_t* codes, int32_t* sums) {
    for (int half = 0; half < 2; ++half) {
      const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(x + 16 * half), _mm512_set1_ps(factor));
      const __m512i code = _mm512_cvtps_epi32(scaled);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + 16 * half), _mm512_cvtepi32_epi8(code));
      sums[half] = _mm512_reduce_add_epi32(code);
    }
  }
};

}  // namespace paceline::kernels::packed
