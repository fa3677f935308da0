#include "cli/terminal/line_editor.h"

#include <utility>

#include "cli/terminal/text_width.h"

namespace paceline::cli {

using Kind = Key::Kind;

LineEditor::Outcome LineEditor::handle(const Key& key) {
  switch (key.kind) {
    case Kind::text:
    case Kind::paste:
      insert(key.text);
      return Outcome::editing;
    case Kind::newline:
      insert("\n");
      return Outcome::editing;
    case Kind::enter:
      return Outcome::submitted;
    case Kind::interrupt:
      return Outcome::interrupted;
    case Kind::end_of_input:
      if (text_.empty()) {
        return Outcome::ended;
      }
      erase(cursor_, next_cluster(text_, cursor_));
      return Outcome::editing;
    case Kind::clear_screen:
      return Outcome::clear_screen;
    case Kind::suspend:
      return Outcome::suspended;
    default:
      move(key.kind) || kill(key.kind);
      return Outcome::editing;
  }
}

void LineEditor::clear() {
  text_.clear();
  draft_.clear();
  cursor_ = 0;
  place_ = history_.size();
}

void LineEditor::remember(const std::string& text) {
  const bool repeated = !history_.empty() && history_.back() == text;
  if (!text.empty() && !repeated) {
    history_.push_back(text);
  }
  if (history_.size() > kHistoryMax) {
    history_.erase(history_.begin());
  }
  place_ = history_.size();
}

void LineEditor::insert(const std::string& text) {
  if (text_.size() + text.size() > kBytesMax) {
    return;
  }
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void LineEditor::erase(std::size_t from, std::size_t to) {
  text_.erase(from, to - from);
  cursor_ = from;
}

void LineEditor::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

bool LineEditor::move(Kind kind) {
  switch (kind) {
    case Kind::left:
      cursor_ = previous_cluster(text_, cursor_);
      return true;
    case Kind::right:
      cursor_ = next_cluster(text_, cursor_);
      return true;
    case Kind::word_left:
      cursor_ = word_start();
      return true;
    case Kind::word_right:
      cursor_ = word_end();
      return true;
    case Kind::home:
      cursor_ = line_start();
      return true;
    case Kind::end:
      cursor_ = line_end();
      return true;
    case Kind::up:
      go_up();
      return true;
    case Kind::down:
      go_down();
      return true;
    default:
      return false;
  }
}

bool LineEditor::kill(Kind kind) {
  switch (kind) {
    case Kind::backspace:
      erase(previous_cluster(text_, cursor_), cursor_);
      return true;
    case Kind::erase:
      erase(cursor_, next_cluster(text_, cursor_));
      return true;
    case Kind::kill_to_end:
      erase(cursor_, line_end());
      return true;
    case Kind::kill_to_start:
      erase(line_start(), cursor_);
      return true;
    case Kind::kill_word:
      erase(word_start(), cursor_);
      return true;
    default:
      return false;
  }
}

std::size_t LineEditor::line_start() const {
  const std::size_t newline = cursor_ == 0 ? std::string::npos : text_.rfind('\n', cursor_ - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}

std::size_t LineEditor::line_end() const {
  const std::size_t newline = text_.find('\n', cursor_);
  return newline == std::string::npos ? text_.size() : newline;
}

std::size_t LineEditor::word_start() const {
  std::size_t at = cursor_;
  while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\n')) {
    --at;
  }
  while (at > 0 && text_[at - 1] != ' ' && text_[at - 1] != '\n') {
    --at;
  }
  return at;
}

std::size_t LineEditor::word_end() const {
  std::size_t at = text_.find_first_not_of(" \n", cursor_);
  at = at == std::string::npos ? at : text_.find_first_of(" \n", at);
  return at == std::string::npos ? text_.size() : at;
}

void LineEditor::go_up() {
  const std::size_t start = line_start();
  if (start > 0) {
    cursor_ = start - 1;  // the end of the line above
    return;
  }
  if (place_ == 0) {
    return;
  }
  if (place_ == history_.size()) {
    draft_ = text_;
  }
  set(history_[--place_]);
}

void LineEditor::go_down() {
  const std::size_t end = line_end();
  if (end < text_.size()) {
    cursor_ = end + 1;
    cursor_ = line_end();
    return;
  }
  if (place_ == history_.size()) {
    return;
  }
  ++place_;
  set(place_ == history_.size() ? draft_ : history_[place_]);
}

}  // namespace paceline::cli
