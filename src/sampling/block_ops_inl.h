#pragma once

#include <cstring>
#include <limits>

#include "sampling/block_ops.h"
#include "sampling/fixed_math.h"

namespace paceline::sampling {

/// The bodies of BlockOps over vectors F of floats and U of as many integers, inlined into one
/// function per instruction set: everything here is always inlined, so that it is compiled for that
/// set.
template <class F, class U>
struct BlockBodies {
  static constexpr std::size_t kLanes = sizeof(F) / sizeof(float);
  static constexpr std::size_t kVectors = kColumns / kLanes;  // of one value per column
  static constexpr std::size_t kSide = kLanes == 16 ? 4 : 2;  // as many as registers hold
  static constexpr std::size_t kStep = 64;

  [[gnu::always_inline]] static inline F load(const float* p) {
    F x;
    __builtin_memcpy(&x, p, sizeof(x));
    return x;
  }

  [[gnu::always_inline]] static inline float largest(const F& x) {
    using Quad [[gnu::vector_size(16)]] = float;
    Quad quads[kLanes / 4];
    __builtin_memcpy(quads, &x, sizeof(x));
    Quad best = quads[0];
    for (const Quad& quad : quads) best = quad > best ? quad : best;
    const float low = best[0] > best[1] ? best[0] : best[1];
    const float high = best[2] > best[3] ? best[2] : best[3];
    return low > high ? low : high;
  }

  /// A block whose length is a multiple of kStep: its own logits, or a copy with -inf behind them,
  /// which no operation counts.
  struct Padded {
    [[gnu::always_inline]] explicit inline Padded(std::span<const float> logits)
        : begin(logits.data()), end(begin + logits.size()) {
      if (logits.size() % kStep == 0) return;
      for (float& x : copy) x = -std::numeric_limits<float>::infinity();
      std::memcpy(copy, begin, logits.size() * sizeof(float));
      begin = copy;
      end = copy + (logits.size() / kStep + 1) * kStep;
    }
    const float* begin;
    const float* end;
    float copy[kBlock];
  };

  /// The greatest of [begin, end), kStep or a multiple of it; +inf where one is NaN or +inf.
  [[gnu::always_inline]] static inline float greatest(const float* begin, const float* end) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    F best[kSide];
    U magnitude[kSide];  // bits without the sign: a NaN's are greater than those of infinity
    for (std::size_t v = 0; v < kSide; ++v) {
      best[v] = F{} - kInfinity;
      magnitude[v] = U{};
    }
    for (const float* p = begin; p < end; p += kSide * kLanes) {
      for (std::size_t v = 0; v < kSide; ++v) {
        const F x = load(p + v * kLanes);
        const U bits = __builtin_bit_cast(U, x) << 1;
        best[v] = x > best[v] ? x : best[v];
        magnitude[v] = bits > magnitude[v] ? bits : magnitude[v];
      }
    }
    for (std::size_t v = 1; v < kSide; ++v) {
      best[0] = best[v] > best[0] ? best[v] : best[0];
      magnitude[0] = magnitude[v] > magnitude[0] ? magnitude[v] : magnitude[0];
    }
    best[0] = magnitude[0] > std::bit_cast<uint32_t>(kInfinity) << 1 ? F{} + kInfinity : best[0];
    return largest(best[0]);
  }

  [[gnu::always_inline]] static inline void scan(std::span<const float> logits, float* block_max) {
    const std::size_t whole = logits.size() / kBlock;
    const float* values = logits.data();
    for (std::size_t b = 0; b < whole; ++b, values += kBlock) {
      block_max[b] = greatest(values, values + kBlock);
    }
    if (whole * kBlock == logits.size()) return;
    const Padded rest(logits.subspan(whole * kBlock));
    block_max[whole] = greatest(rest.begin, rest.end);
  }

  [[gnu::always_inline]] static inline void column_max(std::span<const float> logits,
                                                       float* columns) {
    const Padded block(logits);
    F best[kVectors];
    for (F& x : best) x = F{} - std::numeric_limits<float>::infinity();
    for (const float* p = block.begin; p < block.end; p += kColumns) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const F x = load(p + v * kLanes);
        best[v] = x > best[v] ? x : best[v];
      }
    }
    std::memcpy(columns, best, sizeof(best));
  }

  /// The sum of weights in units of 2^-40, in lanes of 32 bits: a weight is rounded to 2^-20, the
  /// rest of it to 2^-40 (or all of it at once when kSmall), each by an addition after which the
  /// low bits of the float hold the integer. kSide vectors go through every step together, because
  /// the steps of one wait for each other. A block's sums fit: high <= 256 * 2^20, |low| <= 256 *
  /// 2^22.
  template <bool kScaled, bool kSmall>
  [[gnu::always_inline]] static inline uint64_t sum_as(const float* begin, const float* end,
                                                       float max, float temperature) {
    constexpr float kHighRound = 0x1.8p3F;   // ulp 2^-20
    constexpr float kLowRound = 0x1.8p-17F;  // ulp 2^-40
    const F floor = F{} + kExpFloor;
    U high{};
    U low{};
    for (const float* at = begin; at < end; at += kSide * kLanes) {
      F x[kSide], shifted[kSide], n[kSide], p[kSide];
      for (std::size_t v = 0; v < kSide; ++v) x[v] = load(at + v * kLanes) - max;
      if constexpr (kScaled) {
        for (F& y : x) y = y / temperature;
      }
      for (F& y : x) y = y > floor ? y : floor;
      for (std::size_t v = 0; v < kSide; ++v) shifted[v] = x[v] * kExpLog2E + kExpRound;
      for (std::size_t v = 0; v < kSide; ++v) n[v] = shifted[v] - kExpRound;
      for (std::size_t v = 0; v < kSide; ++v) x[v] = x[v] - n[v] * kExpLn2High;
      for (std::size_t v = 0; v < kSide; ++v) x[v] = x[v] - n[v] * kExpLn2Low;
      for (F& y : p) y = F{} + kExpPowers[0];
#pragma GCC unroll 5
      for (int i = 1; i < 6; ++i) {
        for (std::size_t v = 0; v < kSide; ++v) p[v] = p[v] * x[v] + kExpPowers[i];
      }
      for (std::size_t v = 0; v < kSide; ++v) p[v] = (p[v] * x[v]) * x[v] + x[v] + 1.0F;
      for (std::size_t v = 0; v < kSide; ++v) {
        const U scale = __builtin_bit_cast(U, shifted[v]) << 23;
        p[v] = __builtin_bit_cast(F, __builtin_bit_cast(U, p[v]) + scale);
      }
      if constexpr (!kSmall) {
        for (F& y : p) {
          const F rounded = y + kHighRound;
          high += __builtin_bit_cast(U, rounded);
          y = y - (rounded - kHighRound);
        }
      }
      for (const F& y : p) low += __builtin_bit_cast(U, y + kLowRound);
    }
    uint32_t highs = 0;
    uint32_t lows = 0;
    for (std::size_t j = 0; j < kLanes; ++j) {
      highs += high[j];
      lows += low[j];
    }
    const auto values = static_cast<uint32_t>(end - begin);
    if constexpr (!kSmall) highs -= values * std::bit_cast<uint32_t>(kHighRound);
    lows -= values * std::bit_cast<uint32_t>(kLowRound);
    return (static_cast<uint64_t>(highs) << 20) +
           static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(lows)));
  }

  template <bool kScaled>
  [[gnu::always_inline]] static inline uint64_t sum_block(const float* begin, const float* end,
                                                          float block_max, float max,
                                                          float temperature) {
    const float top = kScaled ? (block_max - max) / temperature : block_max - max;
    if (top < kWeightFloor) return 0;
    // exp(-12.5) < 2^-18, so that the sum with kLowRound keeps its ulp.
    return top < -12.5F ? sum_as<kScaled, true>(begin, end, max, temperature)
                        : sum_as<kScaled, false>(begin, end, max, temperature);
  }

  template <bool kScaled>
  [[gnu::always_inline]] static inline uint64_t sum_row(const Maxima& row, float temperature) {
    const std::size_t whole = row.logits.size() / kBlock;
    const float* values = row.logits.data();
    uint64_t total = 0;
    for (std::size_t b = 0; b < whole; ++b, values += kBlock) {
      total += sum_block<kScaled>(values, values + kBlock, row.block_max[b], row.max, temperature);
    }
    if (whole * kBlock == row.logits.size()) return total;
    const Padded rest(row.logits.subspan(whole * kBlock));
    return total +
           sum_block<kScaled>(rest.begin, rest.end, row.block_max[whole], row.max, temperature);
  }

  [[gnu::always_inline]] static inline uint64_t sum(const Maxima& row, float temperature) {
    return temperature == 1 ? sum_row<false>(row, 1) : sum_row<true>(row, temperature);
  }

  [[gnu::always_inline]] static inline void weigh(std::span<const float> logits, float max,
                                                  float temperature, Weighed& out) {
    const std::size_t n = logits.size();
    const float* values = logits.data();
    float x[kBlock];
    // Short loops: the compiler vectorises each, not one long one.
    for (std::size_t j = 0; j < n; ++j) x[j] = (values[j] - max) / temperature;
    for (std::size_t j = 0; j < n; ++j) x[j] = x[j] < kExpFloor ? kExpFloor : x[j];
    for (std::size_t j = 0; j < n; ++j) out.bucket[j] = bucket_of(x[j]);
    for (std::size_t j = 0; j < n; ++j) x[j] = exp_in_range(x[j]);
    for (std::size_t j = 0; j < n; ++j) out.weight[j] = to_fixed(x[j]);
  }

  [[gnu::always_inline]] static inline void hash(DrawKey key, uint32_t first, Hashed& out) {
    U id[kVectors];
    U least[kVectors];
    for (std::size_t j = 0; j < kColumns; ++j) {
      id[j / kLanes][j % kLanes] = first + static_cast<uint32_t>(j);
    }
    for (U& x : least) x = ~U{};
    for (std::size_t i = 0; i < kBlock; i += kColumns) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const U hash = hash_lanes(key, id[v]);
        __builtin_memcpy(&out.hash[i + v * kLanes], &hash, sizeof(hash));
        least[v] = hash < least[v] ? hash : least[v];
        id[v] += static_cast<uint32_t>(kColumns);
      }
    }
    std::memcpy(out.least.data(), least, sizeof(least));
  }
};

}  // namespace paceline::sampling
