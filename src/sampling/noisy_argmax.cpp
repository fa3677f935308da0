#include "sampling/noisy_argmax.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sampling/block_ops.h"

namespace paceline::sampling {
namespace {

class Search {
 public:
  Search(const LogitRow& row, double temperature, const Cut& support, DrawKey key)
      : row_(row),
        temperature_(temperature),
        inverse_temperature_(1 / temperature),
        support_(support),
        key_(key) {}

  void consider(std::size_t id);
  void visit(std::size_t block);
  TokenId best_id() const { return best_id_; }

 private:
  int64_t hash_limit(float logit) const;
  void score(std::size_t i, uint32_t hash);

  const LogitRow& row_;
  double temperature_;
  double inverse_temperature_;
  Cut support_;
  DrawKey key_;
  double best_ = -std::numeric_limits<double>::infinity();
  TokenId best_id_ = std::numeric_limits<TokenId>::max();
};

// The greatest hash with which an id of at most this logit can still win, or -1. Rounded outward by
// far more than the error of exp, of the noise and of the sum; the exact comparison is in score().
int64_t Search::hash_limit(float logit) const {
  constexpr int64_t kAll = std::numeric_limits<uint32_t>::max();
  constexpr double kGreatestNoise = 23.0;  // -ln(-ln(1 - 2^-33)) = 22.87
  const double top = logit * inverse_temperature_;
  const double slack = 1e-9 + 1e-14 * (std::abs(best_) + std::abs(top));
  const double noise = best_ - top - slack;
  if (!(noise > 0)) return kAll;
  if (noise > kGreatestNoise) return -1;
  // v = 1 - exp(-y) <= y = exp(-noise) = 2^-t, and 2^(k + f) <= 2^k (1 + f): the float whose
  // exponent and mantissa are the digits of 32 - t, no more than 6 % above.
  constexpr double kLog2E = 1.4426950408889634;
  const double digits = (1023.0 + 32.0 - noise * kLog2E) * 0x1p52;
  const auto limit = std::bit_cast<double>(static_cast<int64_t>(digits) + (int64_t{1} << 12));
  return std::min(kAll, static_cast<int64_t>(limit) + 2);
}

void Search::score(std::size_t i, uint32_t hash) {
  const auto id = static_cast<TokenId>(i);
  if (!support_.keeps({row_[i], id})) return;
  const double score = row_[i] / temperature_ + gumbel_of_hash(hash);
  if (score > best_ || (score == best_ && id < best_id_)) {
    best_ = score;
    best_id_ = id;
  }
}

void Search::consider(std::size_t id) { score(id, hash32(key_, static_cast<uint32_t>(id))); }

void Search::visit(std::size_t block) {
  if (row_.block_max(block) < support_.logit) return;
  const int64_t limit = hash_limit(row_.block_max(block));
  if (limit < 0) return;
  const auto [first, last] = row_.block_range(block);
  Hashed hashed;
  block_ops().hash(key_, static_cast<uint32_t>(first), hashed);
  for (std::size_t column = 0; column < kColumns; ++column) {
    if (hashed.least[column] > limit) continue;
    for (std::size_t j = column; j < last - first; j += kColumns) {
      if (hashed.hash[j] > limit) continue;
      // The bound of its own logit spares most of the logarithms.
      if (hashed.hash[j] <= hash_limit(row_[first + j])) score(first + j, hashed.hash[j]);
    }
  }
}

}  // namespace

TokenId noisy_argmax(const LogitRow& row, double temperature, const Cut& support, DrawKey key) {
  Search search(row, temperature, support, key);
  // The greatest logit first, then its block: their winner rules out most others.
  const auto best = static_cast<std::size_t>(row.argmax());
  const std::size_t start = best / kBlock;
  search.consider(best);
  search.visit(start);
  for (std::size_t b = 0; b < row.blocks(); ++b) {
    if (b != start) search.visit(b);
  }
  return search.best_id();
}

}  // namespace paceline::sampling
