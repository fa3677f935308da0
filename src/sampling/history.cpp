#include "sampling/history.h"

#include <algorithm>

namespace paceline::sampling {
namespace {

auto find_slot(std::vector<std::pair<TokenId, int32_t>>& counts, TokenId id) {
  return std::lower_bound(counts.begin(), counts.end(), id,
                          [](const auto& entry, TokenId wanted) { return entry.first < wanted; });
}

}  // namespace

void History::push(TokenId id) {
  if (window_ == 0) return;
  add(id);
  if (window_ < 0) return;
  if (ring_.size() < static_cast<std::size_t>(window_)) {
    ring_.push_back(id);
    return;
  }
  remove(ring_[next_]);
  ring_[next_] = id;
  next_ = (next_ + 1) % ring_.size();
}

void History::add(TokenId id) {
  const auto slot = find_slot(counts_, id);
  if (slot != counts_.end() && slot->first == id) {
    ++slot->second;
  } else {
    counts_.insert(slot, {id, 1});
  }
}

void History::remove(TokenId id) {
  const auto slot = find_slot(counts_, id);
  if (--slot->second == 0) counts_.erase(slot);
}

}  // namespace paceline::sampling
