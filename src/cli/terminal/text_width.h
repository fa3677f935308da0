#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline::cli {

// What a terminal shows as one character: a code point with its combining marks, joined emoji, a
// flag's two letters. All texts are valid UTF-8.

/// End of the cluster that starts at byte `at`; the text's size at its end.
std::size_t next_cluster(std::string_view text, std::size_t at);
/// Start of the cluster that ends at byte `at`; 0 at the start.
std::size_t previous_cluster(std::string_view text, std::size_t at);

/// What is printed for a cluster that is no newline, and how many columns it takes.
struct Shown {
  std::string text;
  int columns = 0;
};
Shown shown(std::string_view cluster);

}  // namespace paceline::cli
