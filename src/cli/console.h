#pragma once

#include <string>
#include <string_view>

#include "cli/settings.h"

namespace paceline::cli {

/// Standard output for answers, standard error for everything else. Writes bytes at once,
/// unbuffered, in any locale.
class Console {
 public:
  explicit Console(const Settings& settings) : settings_(settings) {}

  /// Text of a model: on a terminal without control characters. Throws Error{io} when it cannot be
  /// written.
  void answer(std::string_view text) const;
  /// Text of ours on standard output.
  void print(std::string_view text) const;
  /// One dim line on standard error.
  void notice(std::string_view text) const;
  /// In place of the last live text on standard error, without a new line; empty = nothing. Only
  /// where Settings::live_error.
  void live(std::string_view text) const;
  /// "paceline: text" on standard error, one line.
  void error(std::string_view text) const;

  const Settings& settings() const { return settings_; }

 private:
  const Settings& settings_;
};

/// Without what could drive a terminal: control characters become U+FFFD, carriage returns vanish,
/// newlines and tabs stay.
std::string for_terminal(std::string_view utf8);

/// Newlines and control characters become spaces.
std::string one_line(std::string_view text);

/// Throws Error{io} naming `what`.
void write_all(int fd, std::string_view bytes, std::string_view what);

}  // namespace paceline::cli
