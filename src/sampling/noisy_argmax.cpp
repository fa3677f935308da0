#include "sampling/noisy_argmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sampling/block_ops.h"

namespace paceline::sampling {
namespace {

class Search {
 public:
  Search(const LogitRow& row, double temperature, const Cut& support, DrawKey key)
      : row_(row), temperature_(temperature), support_(support), key_(key) {}

  void visit(std::size_t block);
  TokenId best_id() const { return best_id_; }

 private:
  int64_t hash_limit(float block_max) const;
  void consider(std::size_t i, uint32_t hash);

  const LogitRow& row_;
  double temperature_;
  Cut support_;
  DrawKey key_;
  double best_ = -std::numeric_limits<double>::infinity();
  TokenId best_id_ = std::numeric_limits<TokenId>::max();
};

// The greatest hash with which an id of a block can still win, or -1. Rounded outward by far more
// than the error of exp, of the noise and of the sum; the exact comparison is in consider().
int64_t Search::hash_limit(float block_max) const {
  constexpr int64_t kAll = std::numeric_limits<uint32_t>::max();
  constexpr double kGreatestNoise = 23.0;  // -ln(-ln(1 - 2^-33)) = 22.87
  constexpr double kLeastNoise = -3.2;     // -ln(-ln(2^-33)) = -3.13
  const double top = block_max / temperature_;
  const double slack = 1e-9 + 1e-14 * (std::abs(best_) + std::abs(top));
  const double noise = best_ - top - slack;
  if (!(noise > kLeastNoise)) return kAll;
  if (noise > kGreatestNoise) return -1;
  const double v = -std::expm1(-std::exp(-noise));
  return std::min(kAll, static_cast<int64_t>(v * (0x1p32 * (1.0 + 1e-9))) + 2);
}

void Search::consider(std::size_t i, uint32_t hash) {
  const auto id = static_cast<TokenId>(i);
  if (!support_.keeps({row_[i], id})) return;
  const double score = row_[i] / temperature_ + gumbel_of_hash(hash);
  if (score > best_ || (score == best_ && id < best_id_)) {
    best_ = score;
    best_id_ = id;
  }
}

void Search::visit(std::size_t block) {
  if (row_.block_max(block) < support_.logit) return;
  const int64_t limit = hash_limit(row_.block_max(block));
  if (limit < 0) return;
  const auto [first, last] = row_.block_range(block);
  std::array<uint32_t, kBlock> hashes;
  block_ops().hash(key_, static_cast<uint32_t>(first), hashes.data());
  for (std::size_t j = 0; j < last - first; ++j) {
    if (hashes[j] <= limit) consider(first + j, hashes[j]);
  }
}

}  // namespace

TokenId noisy_argmax(const LogitRow& row, double temperature, const Cut& support, DrawKey key) {
  Search search(row, temperature, support, key);
  // The block of the greatest logit first: its winner rules out most others.
  const std::size_t start = static_cast<std::size_t>(row.argmax()) / kBlock;
  search.visit(start);
  for (std::size_t b = 0; b < row.blocks(); ++b) {
    if (b != start) search.visit(b);
  }
  return search.best_id();
}

}  // namespace paceline::sampling
