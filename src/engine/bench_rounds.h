#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "paceline/bench.h"

namespace paceline::engine {

inline constexpr int32_t kRoundsMax = 1000;

/// Something to time: run() does the same `calls` times.
struct Timed {
  int32_t calls = 1;
  std::function<void()> run;
};

/// Milliseconds of one call, per item in the order of time. After one run of each to warm up, every
/// round visits the items in turn; a visit runs an item until 40 ms have passed, and its first run
/// does not count when there are more. Throws Error{cancelled} when `on_progress` says so.
std::vector<std::vector<double>> run_rounds(const std::vector<Timed>& items, int32_t rounds,
                                            const BenchCallback& on_progress);

/// Tells the progress; throws Error{cancelled} when the answer is no.
void tell(const BenchCallback& on_progress, const BenchProgress& progress);

}  // namespace paceline::engine
