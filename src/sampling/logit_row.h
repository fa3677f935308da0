#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "paceline/sampling.h"
#include "sampling/block_ops.h"

namespace paceline::sampling {

/// Logits of one row with the maximum of every block of ids, so that later passes skip whole
/// blocks.
class LogitRow {
 public:
  /// Views `logits`, which must outlive it. Throws Error{internal} naming `position` when a logit
  /// is NaN or +inf, or when none is finite.
  LogitRow(std::span<const float> logits, int64_t position);

  std::span<const float> logits() const { return logits_; }
  float operator[](std::size_t id) const { return logits_[id]; }
  std::size_t size() const { return logits_.size(); }
  std::size_t blocks() const { return block_max_.size(); }
  float block_max(std::size_t block) const { return block_max_[block]; }
  std::pair<std::size_t, std::size_t> block_range(std::size_t block) const;
  std::span<const float> block(std::size_t index) const;
  float max() const { return max_; }
  Maxima maxima() const { return {logits_, block_max_.data(), max_}; }
  /// Lowest id that has the greatest logit.
  TokenId argmax() const;

 private:
  std::span<const float> logits_;
  std::vector<float> block_max_;
  float max_ = -std::numeric_limits<float>::infinity();
};

struct Candidate {
  float logit;
  TokenId id;
};
/// The order in which tokens are kept: logit descending, id ascending.
inline bool before(const Candidate& x, const Candidate& y) {
  return x.logit != y.logit ? x.logit > y.logit : x.id < y.id;
}

/// A prefix of the ids in that order. Top-k, top-p and min-p all keep such a prefix, so the support
/// of a draw is the shortest of theirs.
struct Cut {
  float logit = std::numeric_limits<float>::lowest();  ///< of the last id kept
  TokenId id = std::numeric_limits<TokenId>::max();  ///< the last id kept among those of this logit

  bool keeps(const Candidate& x) const {
    return x.logit > logit || (x.logit == logit && x.id <= id);
  }
  /// Whether everything but -inf is kept.
  bool keeps_all() const { return keeps({Cut{}.logit, Cut{}.id}); }
};
inline Cut shorter(const Cut& x, const Cut& y) { return x.keeps({y.logit, y.id}) ? y : x; }

/// The ids with at least `floor` that `within` keeps, in no order; floor > -inf. Beyond `most` of
/// them it gives up and returns those found so far.
std::vector<Candidate> gather(const LogitRow& row, float floor, const Cut& within,
                              std::size_t most = std::numeric_limits<std::size_t>::max());

/// The k first ids; k >= 1.
Cut top_k_cut(const LogitRow& row, std::size_t k);
/// Ids with at least min_p times the probability of the most likely one; min_p in (0, 1].
Cut min_p_cut(const LogitRow& row, float min_p, float temperature);
/// The shortest prefix of `within` that holds at least p of its probability at `temperature` > 0
/// (top_p.cpp).
Cut top_p_cut(const LogitRow& row, float p, float temperature, const Cut& within);

/// Sum of exp((logit - max) / temperature) in units of 2^-40 (top_p.cpp).
uint64_t total_weight(const LogitRow& row, float temperature);

/// The n first ids in order, fewer when the row has fewer finite logits.
std::vector<TokenId> best_ids(const LogitRow& row, std::size_t n);

}  // namespace paceline::sampling
