#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::cli {

struct ViewSize {
  int columns = 80;
  int rows = 24;
};

/// An input as rows of a terminal. `prompt` starts the first row, `prompt_below` every row after a
/// newline; long lines wrap.
struct Layout {
  std::vector<std::string> rows;
  int cursor_row = 0;
  int cursor_column = 0;
};
struct ViewInput {
  std::string_view prompt;
  std::string_view prompt_below;
  std::string_view text;
  std::size_t cursor = 0;
};
Layout lay_out(const ViewInput& input, int columns);

/// Escape sequences that show an input in place of what was shown before.
class LineView {
 public:
  std::string draw(const ViewInput& input, const ViewSize& size);
  /// Goes below what is shown.
  std::string leave();
  /// Clears the screen; the next draw() starts at its top.
  std::string clear_screen();

 private:
  int cursor_row_ = 0;  ///< among the rows on the screen
  int last_row_ = 0;
};

}  // namespace paceline::cli
