#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::sampling {

/// Ends a text before the first stop string. Text that could still become a stop string is held
/// back. The match that completes first wins, of those that end together the longest, so the result
/// does not depend on how the text was cut into pieces. Copyable.
class StopMatcher {
 public:
  static constexpr std::size_t kStringsMax = 16;
  static constexpr std::size_t kBytesMax = 256;

  /// Throws Error{invalid_argument}: more than 16 strings, one that is empty, over 256 bytes or not
  /// UTF-8.
  explicit StopMatcher(std::vector<std::string> stops);

  /// Takes whole code points; returns the text that can no longer be part of a match. Empty after a
  /// match.
  std::string push(std::string_view piece);
  /// What was held back: the text has ended without a match.
  std::string finish();

  bool matched() const { return match_.has_value(); }
  /// Which of the stop strings matched.
  std::optional<std::size_t> match() const { return match_; }

 private:
  std::size_t held_bytes() const;

  std::shared_ptr<const std::vector<std::string>> stops_;  // shared: copies are made per draft
  std::string pending_;
  std::optional<std::size_t> match_;
};

}  // namespace paceline::sampling
