#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/console.h"

namespace paceline::cli {

struct BarState {
  double fraction = 0;  ///< 0 to 1
  double seconds = 0;   ///< since the start
  int64_t bytes = 0;    ///< of the whole; 0 = unknown
  int columns = 80;     ///< the line stays below
  bool with_colour = false;
};

/// "loading NAME  [####....]  45 % of 98.4 MB, 40.1 MB/s, 2 s left", cut to its columns.
std::string bar_line(const std::string& name, const BarState& state);

/// The load of a model on a terminal's last line, from half a second on; gone at the end. While it
/// lives, Ctrl-C ends the process with exit code 130. One at a time.
class LoadBar {
 public:
  LoadBar(const std::string& name, int64_t bytes, const Console& console);
  ~LoadBar();
  LoadBar(const LoadBar&) = delete;
  LoadBar& operator=(const LoadBar&) = delete;

  /// Any thread, one at a time.
  void show(double fraction);

 private:
  using Clock = std::chrono::steady_clock;

  std::string name_;
  int64_t bytes_;
  const Console& console_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::milliseconds(500);
};

}  // namespace paceline::cli
