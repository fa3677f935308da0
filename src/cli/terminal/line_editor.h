#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal/key_decoder.h"

namespace paceline::cli {

/// The text of one input and its history: a state machine without a terminal. The text may hold
/// newlines.
class LineEditor {
 public:
  enum class Outcome {
    editing,
    submitted,     ///< text() is complete
    interrupted,   ///< Ctrl-C; the text has been dropped
    ended,         ///< Ctrl-D on an empty text
    clear_screen,  ///< editing goes on
    suspended,     ///< Ctrl-Z; editing goes on
  };
  static constexpr std::size_t kBytesMax = 1 << 20;  ///< what goes beyond is not taken
  static constexpr std::size_t kHistoryMax = 1000;

  Outcome handle(const Key& key);

  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }  ///< in bytes, between clusters
  /// Empties the text and forgets the place in the history.
  void clear();
  /// Adds to the history unless it is empty or repeats the last one.
  void remember(const std::string& text);

 private:
  void insert(const std::string& text);
  void erase(std::size_t from, std::size_t to);
  void set(std::string text);
  bool move(Key::Kind kind);
  bool kill(Key::Kind kind);
  std::size_t line_start() const;
  std::size_t line_end() const;
  std::size_t word_start() const;
  std::size_t word_end() const;
  void go_up();
  void go_down();

  std::string text_;
  std::size_t cursor_ = 0;
  std::vector<std::string> history_;
  std::size_t place_ = 0;  ///< index into history_; its size = the draft
  std::string draft_;
};

}  // namespace paceline::cli
