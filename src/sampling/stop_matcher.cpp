#include "sampling/stop_matcher.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "paceline/error.h"

namespace paceline::sampling {
namespace {

void validate(const std::vector<std::string>& stops) {
  const auto refuse = [](const std::string& found, const std::string& expected) {
    throw Error(ErrorCode::invalid_argument, "[stop] " + found + ", expected " + expected);
  };
  if (stops.size() > StopMatcher::kStringsMax) {
    refuse(std::to_string(stops.size()) + " stop strings",
           "at most " + std::to_string(StopMatcher::kStringsMax));
  }
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const std::string which = "stop string " + std::to_string(i);
    if (stops[i].empty()) refuse(which + " is empty", "at least one byte");
    if (stops[i].size() > StopMatcher::kBytesMax) {
      refuse(which + " has " + std::to_string(stops[i].size()) + " bytes",
             "at most " + std::to_string(StopMatcher::kBytesMax));
    }
    if (!base::is_valid_utf8(stops[i])) refuse(which + " is not UTF-8", "valid UTF-8");
  }
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops) {
  validate(stops);
  stops_ = std::make_shared<const std::vector<std::string>>(std::move(stops));
}

std::string StopMatcher::push(std::string_view piece) {
  if (match_) return {};
  pending_ += piece;
  std::size_t end = std::string::npos;
  std::size_t start = std::string::npos;
  for (std::size_t i = 0; i < stops_->size(); ++i) {
    const std::size_t at = pending_.find((*stops_)[i]);
    if (at == std::string::npos) continue;
    const std::size_t at_end = at + (*stops_)[i].size();
    if (at_end < end || (at_end == end && at < start)) {
      end = at_end;
      start = at;
      match_ = i;
    }
  }
  const std::size_t keep = match_ ? start : pending_.size() - held_bytes();
  std::string text = pending_.substr(0, keep);
  pending_.erase(0, match_ ? std::string::npos : keep);
  return text;
}

std::string StopMatcher::finish() { return std::exchange(pending_, {}); }

// Length of the longest suffix of the pending text that begins a stop string.
std::size_t StopMatcher::held_bytes() const {
  std::size_t longest = 0;
  for (const std::string& stop : *stops_) {
    for (std::size_t n = std::min(stop.size() - 1, pending_.size()); n > longest; --n) {
      if (std::string_view(pending_).ends_with(std::string_view(stop).substr(0, n))) longest = n;
    }
  }
  return longest;
}

}  // namespace paceline::sampling
