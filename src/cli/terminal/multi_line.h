#pragma once

#include <optional>
#include <string>

namespace paceline::cli {

/// Puts inputs of several lines together: a block from """ to """, or lines that end with a
/// backslash.
class MultiLine {
 public:
  /// The whole input once it is complete.
  std::optional<std::string> add(const std::string& line);
  bool open() const { return state_ != State::none; }
  void drop();

 private:
  enum class State { none, block, continued };
  std::optional<std::string> add_to_block(const std::string& line);

  State state_ = State::none;
  std::string text_;
};

}  // namespace paceline::cli
