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

  [[gnu::always_inline]] static inline F load(const float* p) {
    F x;
    __builtin_memcpy(&x, p, sizeof(x));
    return x;
  }

  /// A block whose length is a multiple of kColumns: its own logits, or a copy with -inf behind
  /// them, which no operation counts.
  struct Padded {
    [[gnu::always_inline]] explicit inline Padded(std::span<const float> logits)
        : begin(logits.data()), end(begin + logits.size()) {
      if (logits.size() % kColumns == 0) return;
      for (float& x : copy) x = -std::numeric_limits<float>::infinity();
      std::memcpy(copy, begin, logits.size() * sizeof(float));
      begin = copy;
      end = copy + (logits.size() / kColumns + 1) * kColumns;
    }
    const float* begin;
    const float* end;
    float copy[kBlock];
  };

  [[gnu::always_inline]] static inline BlockScan scan(std::span<const float> logits) {
    const Padded block(logits);
    F best[kVectors];
    U good[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      best[v] = F{} - std::numeric_limits<float>::infinity();
      good[v] = ~U{};
    }
    for (const float* p = block.begin; p < block.end; p += kColumns) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const F x = load(p + v * kLanes);
        best[v] = x > best[v] ? x : best[v];
        good[v] &= (U)(x < std::numeric_limits<float>::infinity());
      }
    }
    BlockScan result{-std::numeric_limits<float>::infinity(), false};
    for (std::size_t j = 0; j < kColumns; ++j) {
      const float x = best[j / kLanes][j % kLanes];
      result.max = x > result.max ? x : result.max;
      result.bad |= good[j / kLanes][j % kLanes] == 0;
    }
    return result;
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

  /// A weight of 2^-40 units in two halves of 20 bits, each rounded by adding kRound: lanes stay 32
  /// bits wide. low is in [-2^19, 2^19], so the sums of a block fit.
  [[gnu::always_inline]] static inline uint64_t sum(std::span<const float> logits, float max,
                                                    float temperature) {
    constexpr float kRound = 0x1.8p23F;  // the low bits of kRound + w are w rounded to an integer
    constexpr auto kRoundBits = std::bit_cast<uint32_t>(kRound);
    const Padded block(logits);
    const F floor = F{} + kExpFloor;
    U high{};
    U low{};
    for (const float* p = block.begin; p < block.end; p += kLanes) {
      F x = (load(p) - max) / temperature;
      x = x < floor ? floor : x;
      const F weight = exp_in_range<F, U>(x) * 0x1p20F;
      const F rounded = weight + kRound;
      const F rest = weight - (rounded - kRound);
      high += __builtin_bit_cast(U, rounded) - kRoundBits;
      low += __builtin_bit_cast(U, rest * 0x1p20F + kRound) - kRoundBits;
    }
    uint64_t total = 0;
    for (std::size_t j = 0; j < kLanes; ++j) {
      total += (static_cast<uint64_t>(high[j]) << 20) +
               static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(low[j])));
    }
    return total;
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
