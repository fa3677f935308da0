#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sampling/rng.h"

namespace paceline::sampling {

/// Ids that are handled together.
constexpr std::size_t kBlock = 256;
/// The ids of a block stand in columns: id j of a block is in column j % kColumns.
constexpr std::size_t kColumns = 16;

constexpr std::size_t kBuckets = 2048;

/// Buckets of 1/64 nat for x <= 0; the last one holds everything from -32 down.
constexpr int32_t bucket_of(float x) {
  constexpr float kLast = kBuckets - 1;
  const float depth = x * -64.0F;
  return static_cast<int32_t>(depth < kLast ? depth : kLast);
}

/// A row with the greatest logit of it and of every block.
struct Maxima {
  std::span<const float> logits;
  const float* block_max;
  float max;
};

struct Weighed {
  std::array<uint64_t, kBlock> weight;
  std::array<int32_t, kBlock> bucket;
};

struct Hashed {
  std::array<uint32_t, kBlock> hash;
  std::array<uint32_t, kColumns> least;  ///< of every column
};

/// The loops over all ids, once per instruction set. Every set gives the same bits: the arithmetic
/// is the same per element, maxima and integer sums do not depend on the order. But for
/// scan, no logit is NaN or +inf; but for whole rows, spans hold at most kBlock.
struct BlockOps {
  /// The greatest logit of every block of a whole row; +inf where one is NaN or +inf.
  void (*scan)(std::span<const float> logits, float* block_max);
  /// Greatest logit of every column, -inf for an empty one.
  void (*column_max)(std::span<const float> logits, float* best);
  /// Per logit, with x = (logit - max) / temperature: weight_fixed(x) and a bucket that rises as x
  /// falls.
  void (*weigh)(std::span<const float> logits, float max, float temperature, Weighed& out);
  /// The sum of those weights over a whole row.
  uint64_t (*sum)(const Maxima& row, float temperature);
  /// hash32(key, first + j) of kBlock ids.
  void (*hash)(DrawKey key, uint32_t first, Hashed& out);
};

/// What this CPU runs fastest.
const BlockOps& block_ops();

const BlockOps& generic_block_ops();
/// Null when the CPU lacks AVX2.
const BlockOps* avx2_block_ops();
/// Null when the CPU lacks AVX-512 F, BW, DQ or VL.
const BlockOps* avx512_block_ops();

}  // namespace paceline::sampling
