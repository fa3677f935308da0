#include "cli/terminal/multi_line.h"

#include <string_view>
#include <utility>

namespace paceline::cli {
namespace {

constexpr std::string_view kFence = "\"\"\"";

}  // namespace

std::optional<std::string> MultiLine::add(const std::string& line) {
  if (state_ == State::block) {
    return add_to_block("\n" + line);
  }
  if (state_ == State::none && line.starts_with(kFence)) {
    state_ = State::block;
    return add_to_block(line.substr(kFence.size()));
  }
  if (line.ends_with('\\')) {
    state_ = State::continued;
    text_ += line.substr(0, line.size() - 1) + "\n";
    return std::nullopt;
  }
  state_ = State::none;
  return std::exchange(text_, {}) + line;
}

std::optional<std::string> MultiLine::add_to_block(const std::string& line) {
  text_ += line;
  if (!text_.ends_with(kFence)) {
    return std::nullopt;
  }
  text_.resize(text_.size() - kFence.size());
  state_ = State::none;
  std::string whole = std::exchange(text_, {});
  // The line breaks next to the fences belong to the fences.
  if (whole.starts_with('\n')) {
    whole.erase(0, 1);
  }
  if (whole.ends_with('\n')) {
    whole.pop_back();
  }
  return whole;
}

void MultiLine::drop() {
  state_ = State::none;
  text_.clear();
}

}  // namespace paceline::cli
