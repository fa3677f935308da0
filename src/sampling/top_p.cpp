#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "sampling/block_ops.h"
#include "sampling/fixed_math.h"
#include "sampling/logit_row.h"

namespace paceline::sampling {
namespace {

// Deeper buckets have no weight.
constexpr int32_t kDeepest = bucket_of(kWeightFloor);

uint64_t target_of(float p, uint64_t total) {
  const double share = std::ceil(static_cast<double>(p) * static_cast<double>(total));
  return std::min(static_cast<uint64_t>(share), total);
}

struct Weigher {
  float max;
  float temperature;
  uint64_t operator()(const Candidate& c) const {
    return weight_fixed((c.logit - max) / temperature);
  }
};

// The shortest prefix of the candidates whose weight reaches `target`, which their whole weight
// does.
Cut cut_at_weight(std::vector<Candidate> c, uint64_t target, const Weigher& weigh) {
  constexpr std::ptrdiff_t kSortBelow = 64;
  auto first = c.begin();
  auto last = c.end();
  while (last - first > kSortBelow) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, before);
    uint64_t upper = 0;
    for (auto it = first; it != middle; ++it) upper += weigh(*it);
    if (upper >= target) {
      last = middle;
    } else {
      target -= upper;
      first = middle;
    }
  }
  std::sort(first, last, before);
  uint64_t sum = 0;
  for (auto it = first; it != last; ++it) {
    sum += weigh(*it);
    if (sum >= target) return {it->logit, it->id};
  }
  return {(last - 1)->logit, (last - 1)->id};
}

using Sums = std::array<uint64_t, kBuckets>;  // of weights, per bucket

void add(const Weighed& weighed, std::size_t count, Sums& sums) {
  for (std::size_t j = 0; j < count; ++j) {
    sums[static_cast<std::size_t>(weighed.bucket[j])] += weighed.weight[j];
  }
}

/// Where the weight reaches a target: `left` of it is still missing before this bucket.
struct Reached {
  int32_t bucket;
  uint64_t left;
};

/// Nothing when all of them together do not reach it.
std::optional<Reached> reach(const Sums& sums, uint64_t target) {
  for (std::size_t at = 0; at < kBuckets; ++at) {
    if (sums[at] >= target) return Reached{static_cast<int32_t>(at), target};
    target -= sums[at];
  }
  return std::nullopt;
}

void weigh(std::span<const Candidate> ids, const Weigher& by, Weighed& out) {
  std::array<float, kBlock> logits;
  for (std::size_t j = 0; j < ids.size(); ++j) logits[j] = ids[j].logit;
  block_ops().weigh(std::span(logits).first(ids.size()), by.max, by.temperature, out);
}

/// The cut within `ids`, which are kept before all others. A histogram finds the bucket in which
/// the weight reaches `target`; only that one is sorted. Nothing when the ids do not reach it.
std::optional<Cut> cut_ids(std::span<const Candidate> ids, uint64_t target, const Weigher& by) {
  Sums sums{};
  std::vector<int32_t> buckets(ids.size());
  Weighed weighed;
  for (std::size_t first = 0; first < ids.size(); first += kBlock) {
    const std::size_t n = std::min(kBlock, ids.size() - first);
    weigh(ids.subspan(first, n), by, weighed);
    add(weighed, n, sums);
    std::copy_n(weighed.bucket.begin(), n, buckets.begin() + static_cast<std::ptrdiff_t>(first));
  }
  const auto reached = reach(sums, target);
  if (!reached) return std::nullopt;
  std::vector<Candidate> found;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (buckets[i] == reached->bucket) found.push_back(ids[i]);
  }
  return cut_at_weight(std::move(found), reached->left, by);
}

/// Calls use(block, weights) for every block whose best logit lies in bucket `deepest` or above it.
template <class Use>
void weigh_blocks(const LogitRow& row, const Weigher& by, int32_t deepest, const Use& use) {
  Weighed weighed;
  for (std::size_t b = 0; b < row.blocks(); ++b) {
    if (bucket_of((row.block_max(b) - by.max) / by.temperature) > deepest) continue;
    block_ops().weigh(row.block(b), by.max, by.temperature, weighed);
    use(b, weighed);
  }
}

/// The cut of a row most of whose ids may be kept.
Cut cut_blocks(const LogitRow& row, uint64_t target, const Weigher& by) {
  Sums sums{};
  weigh_blocks(row, by, kDeepest, [&](std::size_t b, const Weighed& weighed) {
    add(weighed, row.block(b).size(), sums);
  });
  const auto reached = reach(sums, target);
  PACELINE_ASSERT(reached.has_value());
  std::vector<Candidate> found;
  weigh_blocks(row, by, reached->bucket, [&](std::size_t b, const Weighed& weighed) {
    const auto [first, last] = row.block_range(b);
    for (std::size_t i = first; i < last; ++i) {
      if (weighed.bucket[i - first] != reached->bucket) continue;
      found.push_back({row[i], static_cast<TokenId>(i)});
    }
  });
  return cut_at_weight(std::move(found), reached->left, by);
}

/// Mostly few ids hold most of the weight, so the best ones are tried first.
Cut cut_row(const LogitRow& row, uint64_t target, const Weigher& by) {
  constexpr std::size_t kFew = 8192;
  for (const double depth : {-5.0, -10.0}) {
    const double floor = std::max(row.max() + depth * by.temperature,
                                  static_cast<double>(std::numeric_limits<float>::lowest()));
    const auto ids = gather(row, static_cast<float>(floor), Cut{}, kFew);
    if (ids.size() > kFew) break;
    if (const auto cut = cut_ids(ids, target, by)) return *cut;
  }
  return cut_blocks(row, target, by);
}

}  // namespace

uint64_t total_weight(const LogitRow& row, float temperature) {
  return block_ops().sum(row.maxima(), temperature);
}

Cut top_p_cut(const LogitRow& row, float p, float temperature, const Cut& within) {
  const Weigher by{row.max(), temperature};
  if (within.keeps_all()) return cut_row(row, target_of(p, total_weight(row, temperature)), by);
  const std::vector<Candidate> kept = gather(row, within.logit, within);
  uint64_t total = 0;
  for (const Candidate& c : kept) total += by(c);
  const auto cut = cut_ids(kept, target_of(p, total), by);
  return cut.value_or(within);
}

}  // namespace paceline::sampling
