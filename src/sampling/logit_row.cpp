#include "sampling/logit_row.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "paceline/error.h"
#include "sampling/fixed_math.h"

namespace paceline::sampling {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

struct Candidate {
  float logit;
  TokenId id;
};
bool before(const Candidate& x, const Candidate& y) {
  return x.logit != y.logit ? x.logit > y.logit : x.id < y.id;
}

struct BlockScan {
  float max;
  bool bad;  ///< NaN or +inf seen
};

// Sixteen independent lanes; a maximum does not depend on the order.
BlockScan scan(std::span<const float> block) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> best;
  std::array<uint32_t, kLanes> bad{};
  best.fill(kNone);
  std::size_t i = 0;
  for (; i + kLanes <= block.size(); i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) {
      const float x = block[i + j];
      best[j] = x > best[j] ? x : best[j];
      bad[j] |= static_cast<uint32_t>(!(x < std::numeric_limits<float>::infinity()));
    }
  }
  for (; i < block.size(); ++i) {
    best[0] = block[i] > best[0] ? block[i] : best[0];
    bad[0] |= static_cast<uint32_t>(!(block[i] < std::numeric_limits<float>::infinity()));
  }
  BlockScan result{best[0], bad[0] != 0};
  for (std::size_t j = 1; j < kLanes; ++j) {
    result.max = std::max(result.max, best[j]);
    result.bad |= bad[j] != 0;
  }
  return result;
}

[[noreturn]] void refuse(int64_t position, const std::string& found) {
  throw Error(ErrorCode::internal, "[sampler] logits of position " + std::to_string(position) +
                                       ": found " + found + ", expected finite numbers");
}

std::vector<Candidate> gather(const LogitRow& row, float floor, const Cut& within) {
  std::vector<Candidate> found;
  for (std::size_t b = 0; b < row.blocks(); ++b) {
    if (row.block_max(b) < floor || row.block_max(b) < within.logit) continue;
    const auto [first, last] = row.block_range(b);
    for (std::size_t i = first; i < last; ++i) {
      const auto id = static_cast<TokenId>(i);
      if (row[i] >= floor && within.keeps(row[i], id)) found.push_back({row[i], id});
    }
  }
  return found;
}

// A superset of the k first ids that is not much larger when the k best lie in different blocks:
// the k-th best block maximum bounds the k-th best logit from below.
std::vector<Candidate> gather_best(const LogitRow& row, std::size_t k) {
  float floor = std::numeric_limits<float>::lowest();
  if (k < row.blocks()) {
    std::vector<float> maxima(row.blocks());
    for (std::size_t b = 0; b < row.blocks(); ++b) maxima[b] = row.block_max(b);
    const auto kth = maxima.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(maxima.begin(), kth, maxima.end(), std::greater<>());
    floor = std::max(floor, *kth);
  }
  return gather(row, floor, Cut{});
}

struct Weigher {
  float max;
  float temperature;
  uint64_t operator()(float logit) const { return weight_fixed((logit - max) / temperature); }
};

// The shortest prefix of `c` (in order) whose weight reaches `target`; all of it when nothing does.
Cut cut_at_weight(std::vector<Candidate> c, uint64_t target, const Weigher& weigh) {
  constexpr std::ptrdiff_t kSortBelow = 64;
  auto first = c.begin();
  auto last = c.end();
  while (last - first > kSortBelow) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, before);
    uint64_t upper = 0;
    for (auto it = first; it != middle; ++it) upper += weigh(it->logit);
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
    sum += weigh(it->logit);
    if (sum >= target) return {it->logit, it->id};
  }
  return {(last - 1)->logit, (last - 1)->id};
}

}  // namespace

LogitRow::LogitRow(std::span<const float> logits, int64_t position)
    : logits_(logits), block_max_((logits.size() + kBlock - 1) / kBlock) {
  bool bad = false;
  for (std::size_t b = 0; b < blocks(); ++b) {
    const auto [first, last] = block_range(b);
    const BlockScan result = scan(logits_.subspan(first, last - first));
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

uint64_t total_weight(const LogitRow& row, float temperature, const Cut& within) {
  const Weigher weigh{row.max(), temperature};
  uint64_t total = 0;
  for (std::size_t b = 0; b < row.blocks(); ++b) {
    const float top = row.block_max(b);
    if (top < within.logit || (top - row.max()) / temperature < kWeightFloor) continue;
    const auto [first, last] = row.block_range(b);
    for (std::size_t i = first; i < last; ++i) {
      const uint64_t weight = weigh(row[i]);
      total += within.keeps(row[i], static_cast<TokenId>(i)) ? weight : 0;
    }
  }
  return total;
}

Cut top_p_cut(const LogitRow& row, float p, float temperature, const Cut& within) {
  const uint64_t total = total_weight(row, temperature, within);
  const double share = std::ceil(static_cast<double>(p) * static_cast<double>(total));
  const auto target = std::min(static_cast<uint64_t>(share), total);
  const Weigher weigh{row.max(), temperature};
  // Most rows reach p within a few nats of the best; deeper bands are read only when needed.
  for (const double depth : {4.0, 8.0, 16.0, 32.0}) {
    const double floor = static_cast<double>(row.max()) - depth * temperature;
    const double lowest = std::numeric_limits<float>::lowest();
    std::vector<Candidate> c = gather(row, static_cast<float>(std::max(floor, lowest)), within);
    uint64_t sum = 0;
    for (const Candidate& candidate : c) sum += weigh(candidate.logit);
    if (sum >= target) return cut_at_weight(std::move(c), target, weigh);
  }
  return within;
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
