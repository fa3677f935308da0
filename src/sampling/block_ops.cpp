#include "sampling/block_ops.h"

#include "sampling/block_ops_inl.h"

namespace paceline::sampling {
namespace {

using Floats4 [[gnu::vector_size(16)]] = float;
using Words4 [[gnu::vector_size(16)]] = uint32_t;
using Generic = BlockBodies<Floats4, Words4>;

void scan_generic(std::span<const float> logits, float* block_max) {
  Generic::scan(logits, block_max);
}
void column_max_generic(std::span<const float> logits, float* columns) {
  Generic::column_max(logits, columns);
}
void weigh_generic(std::span<const float> logits, float max, float temperature, Weighed& out) {
  Generic::weigh(logits, max, temperature, out);
}
uint64_t sum_generic(const Maxima& row, float temperature) {
  return Generic::sum(row, temperature);
}
void hash_generic(DrawKey key, uint32_t first, Hashed& out) { Generic::hash(key, first, out); }

#ifdef __x86_64__
using Floats8 [[gnu::vector_size(32)]] = float;
using Words8 [[gnu::vector_size(32)]] = uint32_t;
using Avx2 = BlockBodies<Floats8, Words8>;

[[gnu::target("avx2")]] void scan_avx2(std::span<const float> logits, float* block_max) {
  Avx2::scan(logits, block_max);
}
[[gnu::target("avx2")]] void column_max_avx2(std::span<const float> logits, float* columns) {
  Avx2::column_max(logits, columns);
}
[[gnu::target("avx2")]] void weigh_avx2(std::span<const float> logits, float max, float temperature,
                                        Weighed& out) {
  Avx2::weigh(logits, max, temperature, out);
}
[[gnu::target("avx2")]] uint64_t sum_avx2(const Maxima& row, float temperature) {
  return Avx2::sum(row, temperature);
}
[[gnu::target("avx2")]] void hash_avx2(DrawKey key, uint32_t first, Hashed& out) {
  Avx2::hash(key, first, out);
}

using Floats16 [[gnu::vector_size(64)]] = float;
using Words16 [[gnu::vector_size(64)]] = uint32_t;
using Avx512 = BlockBodies<Floats16, Words16>;

[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void scan_avx512(
    std::span<const float> logits, float* block_max) {
  Avx512::scan(logits, block_max);
}
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void column_max_avx512(
    std::span<const float> logits, float* columns) {
  Avx512::column_max(logits, columns);
}
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void weigh_avx512(
    std::span<const float> logits, float max, float temperature, Weighed& out) {
  Avx512::weigh(logits, max, temperature, out);
}
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] uint64_t sum_avx512(const Maxima& row,
                                                                          float temperature) {
  return Avx512::sum(row, temperature);
}
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void hash_avx512(DrawKey key, uint32_t first,
                                                                       Hashed& out) {
  Avx512::hash(key, first, out);
}
#endif

}  // namespace

const BlockOps& generic_block_ops() {
  static constexpr BlockOps kOps{scan_generic, column_max_generic, weigh_generic, sum_generic,
                                 hash_generic};
  return kOps;
}

const BlockOps* avx2_block_ops() {
#ifdef __x86_64__
  static constexpr BlockOps kOps{scan_avx2, column_max_avx2, weigh_avx2, sum_avx2, hash_avx2};
  return __builtin_cpu_supports("avx2") ? &kOps : nullptr;
#else
  return nullptr;
#endif
}

const BlockOps* avx512_block_ops() {
#ifdef __x86_64__
  static constexpr BlockOps kOps{scan_avx512, column_max_avx512, weigh_avx512, sum_avx512,
                                 hash_avx512};
  const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has ? &kOps : nullptr;
#else
  return nullptr;
#endif
}

const BlockOps& block_ops() {
  static const BlockOps& best = []() -> const BlockOps& {
    if (const BlockOps* widest = avx512_block_ops()) return *widest;
    if (const BlockOps* wide = avx2_block_ops()) return *wide;
    return generic_block_ops();
  }();
  return best;
}

}  // namespace paceline::sampling
