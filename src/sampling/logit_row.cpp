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

[[noreturn]] void refuse(int64_t position, const std::string& found) {
  throw Error(ErrorCode::internal, "[sampler] logits of position " + std::to_string(position) +
                                       ": found " + found + ", expected finite numbers");
}

// A superset of the k first ids that is not much larger: the k-th best maximum of disjoint groups
// of ids bounds the k-th best logit from below.
std::vector<Candidate> gather_best(const LogitRow& row, std::size_t k) {
  std::vector<float> maxima;
  if (k < row.blocks()) {
    for (std::size_t b = 0; b < row.blocks(); ++b) maxima.push_back(row.block_max(b));
  } else if (k < row.blocks() * kColumns) {
    maxima.resize(row.blocks() * kColumns);
    for (std::size_t b = 0; b < row.blocks(); ++b) {
      block_ops().column_max(row.block(b), &maxima[b * kColumns]);
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

}  // namespace

LogitRow::LogitRow(std::span<const float> logits, int64_t position)
    : logits_(logits), block_max_((logits.size() + kBlock - 1) / kBlock) {
  block_ops().scan(logits, block_max_.data());
  for (const float max : block_max_) max_ = std::max(max_, max);
  if (max_ == std::numeric_limits<float>::infinity()) refuse(position, "NaN or +infinity");
  if (max_ == kNone) refuse(position, "no token that may be drawn");
}

std::pair<std::size_t, std::size_t> LogitRow::block_range(std::size_t block) const {
  const std::size_t first = block * kBlock;
  return {first, std::min(first + kBlock, logits_.size())};
}

std::span<const float> LogitRow::block(std::size_t index) const {
  const auto [first, last] = block_range(index);
  return logits_.subspan(first, last - first);
}

TokenId LogitRow::argmax() const {
  std::size_t block = 0;
  while (block_max_[block] != max_) ++block;
  std::size_t id = block * kBlock;
  while (logits_[id] != max_) ++id;
  return static_cast<TokenId>(id);
}

std::vector<Candidate> gather(const LogitRow& row, float floor, const Cut& within,
                              std::size_t most) {
  floor = std::max(floor, within.logit);
  std::vector<Candidate> found;
  std::array<float, kColumns> best;
  for (std::size_t b = 0; b < row.blocks() && found.size() <= most; ++b) {
    if (row.block_max(b) < floor) continue;
    const auto [first, last] = row.block_range(b);
    block_ops().column_max(row.block(b), best.data());
    for (std::size_t column = 0; column < kColumns; ++column) {
      if (best[column] < floor) continue;
      for (std::size_t i = first + column; i < last; i += kColumns) {
        const Candidate c{row[i], static_cast<TokenId>(i)};
        if (c.logit >= floor && within.keeps(c)) found.push_back(c);
      }
    }
  }
  return found;
}

Cut top_k_cut(const LogitRow& row, std::size_t k) {
  if (k >= row.size()) return {};
  std::vector<Candidate> c = gather_best(row, k);
  if (k > c.size()) return {};
  const auto kth = c.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(c.begin(), kth, c.end(), before);
  return {kth->logit, kth->id};
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
