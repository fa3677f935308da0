#include "sampling/block_ops.h"

#include <algorithm>
#include <array>
#include <limits>

#include "sampling/fixed_math.h"

// The bodies are written once and inlined into one function per instruction set; the compiler
// vectorises them.
#define PACELINE_INLINE inline __attribute__((always_inline))

namespace paceline::sampling {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

PACELINE_INLINE BlockScan scan_body(std::span<const float> logits) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> best;
  std::array<uint32_t, kLanes> bad{};
  best.fill(-kInfinity);
  std::size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) {
      const float x = logits[i + j];
      best[j] = x > best[j] ? x : best[j];
      bad[j] |= static_cast<uint32_t>(!(x < kInfinity));
    }
  }
  for (; i < logits.size(); ++i) {
    best[0] = logits[i] > best[0] ? logits[i] : best[0];
    bad[0] |= static_cast<uint32_t>(!(logits[i] < kInfinity));
  }
  BlockScan result{best[0], bad[0] != 0};
  for (std::size_t j = 1; j < kLanes; ++j) {
    result.max = std::max(result.max, best[j]);
    result.bad |= bad[j] != 0;
  }
  return result;
}

PACELINE_INLINE void weigh_body(std::span<const float> logits, float max, float temperature,
                                Weighed& out) {
  const std::size_t n = logits.size();
  std::array<float, kBlock> x;
  // Short loops: each vectorises, one long one does not.
  for (std::size_t j = 0; j < n; ++j) x[j] = (logits[j] - max) / temperature;
  for (std::size_t j = 0; j < n; ++j) x[j] = x[j] < kExpFloor ? kExpFloor : x[j];
  for (std::size_t j = 0; j < n; ++j) out.bucket[j] = bucket_of(x[j]);
  for (std::size_t j = 0; j < n; ++j) x[j] = exp_in_range(x[j]);
  for (std::size_t j = 0; j < n; ++j) out.weight[j] = to_fixed(x[j]);
}

PACELINE_INLINE void hash_body(DrawKey key, uint32_t first, uint32_t* hashes) {
  for (uint32_t j = 0; j < kBlock; ++j) hashes[j] = hash32(key, first + j);
}

BlockScan scan_generic(std::span<const float> logits) { return scan_body(logits); }
void weigh_generic(std::span<const float> logits, float max, float temperature, Weighed& out) {
  weigh_body(logits, max, temperature, out);
}
void hash_generic(DrawKey key, uint32_t first, uint32_t* hashes) { hash_body(key, first, hashes); }

#ifdef __x86_64__
__attribute__((target("avx2"))) BlockScan scan_avx2(std::span<const float> logits) {
  return scan_body(logits);
}
__attribute__((target("avx2"))) void weigh_avx2(std::span<const float> logits, float max,
                                                float temperature, Weighed& out) {
  weigh_body(logits, max, temperature, out);
}
__attribute__((target("avx2"))) void hash_avx2(DrawKey key, uint32_t first, uint32_t* hashes) {
  hash_body(key, first, hashes);
}
#endif

}  // namespace

const BlockOps& generic_block_ops() {
  static constexpr BlockOps kOps{scan_generic, weigh_generic, hash_generic};
  return kOps;
}

const BlockOps* avx2_block_ops() {
#ifdef __x86_64__
  static constexpr BlockOps kOps{scan_avx2, weigh_avx2, hash_avx2};
  return __builtin_cpu_supports("avx2") ? &kOps : nullptr;
#else
  return nullptr;
#endif
}

const BlockOps& block_ops() {
  static const BlockOps* const wide = avx2_block_ops();
  return wide != nullptr ? *wide : generic_block_ops();
}

}  // namespace paceline::sampling
