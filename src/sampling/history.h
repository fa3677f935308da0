#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "paceline/sampling.h"

namespace paceline::sampling {

/// The tokens that penalties see: how often each occurs among the last `window` ones. Copyable.
class History {
 public:
  /// window = -1: every token; 0: none.
  explicit History(int32_t window) : window_(window) {}

  void push(TokenId id);
  /// (id, occurrences), ascending ids.
  const std::vector<std::pair<TokenId, int32_t>>& counts() const { return counts_; }

 private:
  void add(TokenId id);
  void remove(TokenId id);

  int32_t window_;
  std::size_t next_ = 0;       ///< slot of the ring that is overwritten next, once it is full
  std::vector<TokenId> ring_;  ///< the window's tokens; unused when the window is unlimited
  std::vector<std::pair<TokenId, int32_t>> counts_;
};

}  // namespace paceline::sampling
