#pragma once

#include <chrono>

namespace paceline::base {

/// Decides when a parallel loop is better run by the caller alone: while another program holds a
/// core, every join waits for a worker that the system has put aside. Bits never depend on it, only
/// time does. Not thread safe.
class JoinWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;

  /// A join is slow when it waits this long and at least half as long as the caller's own part
  /// took.
  static constexpr Duration kSlow = std::chrono::microseconds(500);
  static constexpr int kSlowJoins = 3;  ///< within one window: go alone
  /// A window without trouble is forgotten. It has this many loops at least, and lasts longer than
  /// the slice of a few ms that a worker gets of a core it shares.
  static constexpr int kLoops = 64;
  static constexpr Duration kWindow = std::chrono::milliseconds(10);
  static constexpr Duration kAloneMin = std::chrono::milliseconds(50);
  static constexpr Duration kAloneMax = std::chrono::milliseconds(800);

  bool alone(Clock::time_point now) const { return now < alone_until_; }

  /// Tells how a loop went: the caller worked for `own`, then waited for `wait`.
  void joined(Duration own, Duration wait, Clock::time_point now) {
    if (++loops_ > kLoops && busy_ >= kWindow) {
      start_window();
      slow_ = 0;
      alone_for_ = kAloneMin;
    }
    busy_ += own + wait;
    if (wait < kSlow || wait * 2 < own || ++slow_ < kSlowJoins) return;
    alone_until_ = now + alone_for_;
    alone_for_ = alone_for_ * 2 < kAloneMax ? alone_for_ * 2 : kAloneMax;
    start_window();
    slow_ = kSlowJoins - 1;  // one slow join while probing again is enough
  }

 private:
  void start_window() {
    loops_ = 0;
    busy_ = {};
  }

  Clock::time_point alone_until_{};
  Duration alone_for_ = kAloneMin;
  int loops_ = 0;
  Duration busy_{};
  int slow_ = 0;
};

}  // namespace paceline::base
