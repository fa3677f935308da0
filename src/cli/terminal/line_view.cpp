#include "cli/terminal/line_view.h"

#include <algorithm>

#include "cli/terminal/text_width.h"

namespace paceline::cli {
namespace {

std::string up(int rows) { return rows > 0 ? "\x1b[" + std::to_string(rows) + "A" : std::string(); }
std::string down(int rows) {
  return rows > 0 ? "\x1b[" + std::to_string(rows) + "B" : std::string();
}
std::string right(int columns) {
  return columns > 0 ? "\x1b[" + std::to_string(columns) + "C" : std::string();
}

class Filler {
 public:
  Filler(Layout& layout, int columns) : layout_(layout), columns_(columns) {
    layout_.rows.emplace_back();
  }

  void add(std::string_view cluster) {
    const Shown piece = shown(cluster);
    if (column_ + piece.columns > columns_) {
      next_row();
    }
    layout_.rows.back() += piece.text;
    column_ += piece.columns;
  }
  void add_all(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); at = next_cluster(text, at)) {
      add(text.substr(at, next_cluster(text, at) - at));
    }
  }
  void next_row() {
    layout_.rows.emplace_back();
    column_ = 0;
  }
  /// The cursor is where the next cluster goes.
  void mark_cursor() {
    if (column_ >= columns_) {
      next_row();
    }
    layout_.cursor_row = static_cast<int>(layout_.rows.size()) - 1;
    layout_.cursor_column = column_;
  }

 private:
  Layout& layout_;
  int columns_;
  int column_ = 0;
};

}  // namespace

Layout lay_out(const ViewInput& input, int columns) {
  Layout layout;
  Filler filler(layout, std::max(columns, 8));
  filler.add_all(input.prompt);
  for (std::size_t at = 0; at < input.text.size();) {
    if (at == input.cursor) {
      filler.mark_cursor();
    }
    const std::size_t end = next_cluster(input.text, at);
    if (input.text[at] == '\n') {
      filler.next_row();
      filler.add_all(input.prompt_below);
    } else {
      filler.add(input.text.substr(at, end - at));
    }
    at = end;
  }
  if (input.cursor >= input.text.size()) {
    filler.mark_cursor();
  }
  return layout;
}

std::string LineView::draw(const ViewInput& input, const ViewSize& size) {
  const Layout layout = lay_out(input, size.columns);
  const int count = static_cast<int>(layout.rows.size());
  // A text that is taller than the screen is seen through a window around its cursor.
  const int height = std::min(count, std::max(size.rows - 1, 1));
  const int first = std::clamp(layout.cursor_row - height + 1, 0, count - height);
  std::string bytes = up(cursor_row_) + "\r\x1b[J";
  for (int row = first; row < first + height; ++row) {
    bytes += (row == first ? "" : "\r\n") + layout.rows[static_cast<std::size_t>(row)];
  }
  last_row_ = height - 1;
  cursor_row_ = layout.cursor_row - first;
  bytes += up(last_row_ - cursor_row_) + "\r" + right(layout.cursor_column);
  return bytes;
}

std::string LineView::leave() {
  std::string bytes = down(last_row_ - cursor_row_) + "\r\n";
  cursor_row_ = 0;
  last_row_ = 0;
  return bytes;
}

std::string LineView::clear_screen() {
  cursor_row_ = 0;
  last_row_ = 0;
  return "\x1b[H\x1b[2J";
}

}  // namespace paceline::cli
