#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "cli/interrupt.h"
#include "cli/settings.h"
#include "cli/terminal/key_decoder.h"
#include "cli/terminal/line_editor.h"
#include "cli/terminal/line_view.h"

namespace paceline::cli {

/// Reads a person's lines: with editing where the terminal can, else whole lines as the terminal
/// gives them.
class LineReader {
 public:
  enum class Kind { line, interrupted, ended };
  struct Result {
    Kind kind = Kind::line;
    std::string text{};      ///< valid UTF-8
    bool was_empty = false;  ///< interrupted: nothing had been typed
  };

  /// `interrupt` outlives it: on terminals without line editing Ctrl-C arrives there.
  LineReader(const Settings& settings, const Interrupt& interrupt);
  /// Throws Error{io}.
  Result read(std::string_view prompt, std::string_view prompt_below);
  void remember(const std::string& text) { editor_.remember(text); }

 private:
  Result read_edited(std::string_view prompt, std::string_view prompt_below);
  Result read_plain(std::string_view prompt);
  LineEditor::Outcome next_outcome();
  bool fill_keys();
  void draw(std::string_view prompt, std::string_view prompt_below);
  void show(const std::string& bytes) const;
  ViewSize size() const;

  bool wait_for_input() const;

  const Settings& settings_;
  const Interrupt& interrupt_;
  int output_;  ///< the terminal that is drawn on
  KeyDecoder decoder_;
  LineEditor editor_;
  LineView view_;
  std::deque<Key> keys_;  ///< typed ahead
  std::string plain_;     ///< bytes after the last plain line
};

}  // namespace paceline::cli
