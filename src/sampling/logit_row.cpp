#include "sampling/logit_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "paceline/error.h"
#include "sampling/block_ops.h"
#include "sampling/fixed_math.h"

namespace paceline::sampling {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();
// Deeper buckets have no weight.
constexpr int32_t kWeightDeepest = bucket_of(kWeightFloor);

[[noreturn]] void refuse(int64_t position, const std::string& found) {
  throw Error(ErrorCode::internal, "[sampler] logits of position " + std::to_string(position) +
                                       ": found " + found + ", expected finite numbers");
}

std::span<const float> block_of(const LogitRow& row, std::size_t block) {
  const auto [first, last] = row.block_range(block);
  return row.logits().subspan(first, last - first);
}

// Ids with at least `floor` that `within` keeps, ascending.
std::vector<Candidate> gather(const LogitRow& row, float floor, const Cut& within) {
  std::vector<Candidate> found;
  for (std::size_t b = 0; b < row.blocks(); ++b) {
    if (row.block_max(b) < floor || row.block_max(b) < within.logit) continue;
    const auto [first, last] = row.block_range(b);
    for (std::size_t i = first; i < last; ++i) {
      const Candidate c{row[i], static_cast<TokenId>(i)};
      if (c.logit >= floor && within.keeps(c)) found.push_back(c);
    }
  }
  return found;
}

// A superset of the k first ids that is not much larger: the k-th best maximum of disjoint groups
// of ids bounds the k-th best logit from below.
std::vector<Candidate> gather_best(const LogitRow& row, std::size_t k) {
  constexpr std::size_t kGroup = 32;
  std::vector<float> maxima;
  if (k < row.blocks()) {
    for (std::size_t b = 0; b < row.blocks(); ++b) maxima.push_back(row.block_max(b));
  } else if (k < row.size() / kGroup) {
    for (std::size_t i = 0; i + kGroup <= row.size(); i += kGroup) {
      maxima.push_back(block_ops().scan(row.logits().subspan(i, kGroup)).max);
    }
  }
  float floor = std::numeric_limits<float>::lowest();
  if (!maxima.empty()) {
    const auto kth = maxima.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(maxima.begin(), kth, maxima.end(), std::greater<>());
    floor = std::max(floor, *kth);
  }
  return gather(row, floor, Cut{});
}

// Calls use(block, weights) for every block whose best logit lies in bucket `deepest` or above it.
template <class Use>
void weigh_blocks(const LogitRow& row, float temperature, int32_t deepest, const Use& use) {
  Weighed weighed;
  for (std::size_t b = 0; b < row.blocks(); ++b) {
    if (bucket_of((row.block_max(b) - row.max()) / temperature) > deepest) continue;
    block_ops().weigh(block_of(row, b), row.max(), temperature, weighed);
    use(b, weighed);
  }
}

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

// Top-p over the whole row: a histogram finds the bucket in which the weight reaches p, and only
// that one is sorted.
Cut top_p_of_row(const LogitRow& row, float p, float temperature) {
  std::array<uint64_t, kBuckets> sums{};
  weigh_blocks(row, temperature, kWeightDeepest, [&](std::size_t b, const Weighed& w) {
    const std::size_t n = block_of(row, b).size();
    for (std::size_t j = 0; j < n; ++j) sums[static_cast<std::size_t>(w.bucket[j])] += w.weight[j];
  });
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  uint64_t target = target_of(p, total);
  int32_t at = 0;
  while (sums[static_cast<std::size_t>(at)] < target)
    target -= sums[static_cast<std::size_t>(at++)];

  std::vector<Candidate> found;
  weigh_blocks(row, temperature, at, [&](std::size_t b, const Weighed& w) {
    const auto [first, last] = row.block_range(b);
    for (std::size_t i = first; i < last; ++i) {
      if (w.bucket[i - first] != at) continue;
      found.push_back({row[i], static_cast<TokenId>(i)});
    }
  });
  return cut_at_weight(std::move(found), target, {row.max(), temperature});
}

}  // namespace

LogitRow::LogitRow(std::span<const float> logits, int64_t position)
    : logits_(logits), block_max_((logits.size() + kBlock - 1) / kBlock) {
  bool bad = false;
  for (std::size_t b = 0; b < blocks(); ++b) {
    const BlockScan result = block_ops().scan(block_of(*this, b));
    block_max_[b] = result.max;
    max_ = std::max(max_, result.max);
    bad |= result.bad;
  }
  if (bad) refuse(position, "NaN or +infinity");
  if (max_ == kNone) refuse(position, "no token that may be drawn");
}

std::pair<std::size_t, std::size_t> LogitRow::block_range(std::size_t block) const {
  const std::size_t first = block * kBlock;
  return {first, std::min(first + kBlock, logits_.size())};
}

TokenId LogitRow::argmax() const {
  std::size_t block = 0;
  while (block_max_[block] != max_) ++block;
  std::size_t id = block * kBlock;
  while (logits_[id] != max_) ++id;
  return static_cast<TokenId>(id);
}

Cut top_k_cut(const LogitRow& row, std::size_t k) {
  if (k >= row.size()) return {};
  std::vector<Candidate> c = gather_best(row, k);
  if (k > c.size()) return {};
  const auto kth = c.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(c.begin(), kth, c.end(), before);
  return {kth->logit, kth->id};
}

uint64_t total_weight(const LogitRow& row) {
  uint64_t total = 0;
  weigh_blocks(row, 1, kWeightDeepest, [&](std::size_t b, const Weighed& w) {
    const std::size_t n = block_of(row, b).size();
    for (std::size_t j = 0; j < n; ++j) total += w.weight[j];
  });
  return total;
}

Cut top_p_cut(const LogitRow& row, float p, float temperature, const Cut& within) {
  if (within.keeps_all()) return top_p_of_row(row, p, temperature);
  const Weigher weigh{row.max(), temperature};
  std::vector<Candidate> kept = gather(row, within.logit, within);
  uint64_t total = 0;
  for (const Candidate& c : kept) total += weigh(c);
  return cut_at_weight(std::move(kept), target_of(p, total), weigh);
}

Cut min_p_cut(const LogitRow& row, float min_p, float temperature) {
  const double floor = static_cast<double>(row.max()) + temperature * log_fixed(min_p);
  if (floor <= static_cast<double>(std::numeric_limits<float>::lowest())) return {};
  auto logit = static_cast<float>(floor);
  if (static_cast<double>(logit) < floor) logit = std::nextafter(logit, row.max());
  return {logit, std::numeric_limits<TokenId>::max()};
}

std::vector<TokenId> best_ids(const LogitRow& row, std::size_t n) {
  if (n == 0) return {};
  std::vector<Candidate> c = gather_best(row, std::min(n, row.size()));
  n = std::min(n, c.size());
  std::partial_sort(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(n), c.end(), before);
  std::vector<TokenId> ids(n);
  for (std::size_t i = 0; i < n; ++i) ids[i] = c[i].id;
  return ids;
}

}  // namespace paceline::sampling
