#include "engine/bench_peaks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace paceline::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kChains =
    12;  // more than latency x units of any CPU so far, fewer than its registers
constexpr int64_t kRounds = 1 << 20;  // x kChains instructions: some milliseconds

/// Does `rounds` rounds and returns something that depends on all of them.
using Loop = float (*)(int64_t rounds);

struct Peak {
  Loop loop = nullptr;    // null: the instruction set has no such products
  double operations = 0;  // of one instruction
};

float generic_f32(int64_t rounds) {
  std::array<float, 64> sums{};
  const volatile float source = 0.5F;
  const float x = source;
  for (int64_t i = 0; i < rounds; ++i) {
    for (float& sum : sums) sum = sum * x + x;
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) float avx2_f32(int64_t rounds) {
  __m256 sums[kChains];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  __m256 x = _mm256_set1_ps(0.5F);
  for (int64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+x"(x));  // else the compiler would see the fixed point
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, x, x);
  }
  for (const __m256& sum : sums) x = _mm256_add_ps(x, sum);
  return _mm256_cvtss_f32(x);
}

__attribute__((target("avx2"))) float avx2_int8(int64_t rounds) {
  __m256i sums[kChains];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  __m256i bytes = _mm256_set1_epi8(1);
  const __m256i ones = _mm256_set1_epi16(1);
  for (int64_t i = 0; i < rounds; ++i) {
    for (__m256i& sum : sums) {
      asm volatile("" : "+x"(bytes));
      const __m256i pairs = _mm256_maddubs_epi16(bytes, bytes);
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
    }
  }
  for (const __m256i& sum : sums) bytes = _mm256_add_epi32(bytes, sum);
  return static_cast<float>(_mm256_extract_epi32(bytes, 0));
}

__attribute__((target("avx512f"))) float avx512_f32(int64_t rounds) {
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  __m512 x = _mm512_set1_ps(0.5F);
  for (int64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+v"(x));
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, x, x);
  }
  for (const __m512& sum : sums) x = _mm512_add_ps(x, sum);
  return _mm512_cvtss_f32(x);
}

__attribute__((target("avx512f,avx512vnni"))) float avx512_int8(int64_t rounds) {
  __m512i sums[kChains];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  __m512i bytes = _mm512_set1_epi32(0x01010101);
  for (int64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+v"(bytes));
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, bytes, bytes);
  }
  for (const __m512i& sum : sums) bytes = _mm512_add_epi32(bytes, sum);
  alignas(64) int32_t lanes[16];
  _mm512_store_si512(lanes, bytes);
  return static_cast<float>(lanes[0]);
}

Peak f32_peak(kernels::Isa isa) {
  if (isa == kernels::Isa::avx512) return {avx512_f32, 16 * 2.0 * kChains};
  if (isa == kernels::Isa::avx2) return {avx2_f32, 8 * 2.0 * kChains};
  return {generic_f32, 64 * 2.0};
}

Peak int8_peak(kernels::Isa isa) {
  if (isa == kernels::Isa::avx512 && __builtin_cpu_supports("avx512vnni"))
    return {avx512_int8, 64 * 2.0 * kChains};
  if (isa != kernels::Isa::generic) return {avx2_int8, 32 * 2.0 * kChains};
  return {};
}

#else

Peak f32_peak(kernels::Isa) { return {generic_f32, 64 * 2.0}; }
Peak int8_peak(kernels::Isa) { return {}; }

#endif

/// Operations per second of all threads together.
double measure(const kernels::Context& ctx, const Peak& peak) {
  if (peak.loop == nullptr) return 0;
  const int threads = ctx.pool->size();
  std::atomic<float> sink = 0;  // uses what was computed, so that the loop stays
  const Clock::time_point start = Clock::now();
  ctx.pool->parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sink = peak.loop(kRounds);
  });
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return peak.operations * static_cast<double>(kRounds) * threads / seconds;
}

}  // namespace

ArithmeticPeaks measure_peaks(const kernels::Context& ctx) {
  return {.f32 = measure(ctx, f32_peak(ctx.isa)), .int8 = measure(ctx, int8_peak(ctx.isa))};
}

}  // namespace paceline::engine
