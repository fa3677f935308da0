#pragma once

#include <string>

#include "cli/commands/bench_bandwidth.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "paceline/bench.h"

namespace paceline::cli {

/// Follows a measurement: shows how far it is, samples the bandwidth after every round, and ends it
/// on Ctrl-C. Outlives the measurement it is given to.
class RoundProgress {
 public:
  struct Parts {
    const Console& console;
    const Interrupt& interrupt;
    Bandwidth& bandwidth;
  };
  RoundProgress(const Parts& parts, std::string building, int32_t rounds);
  ~RoundProgress();
  RoundProgress(const RoundProgress&) = delete;
  RoundProgress& operator=(const RoundProgress&) = delete;

  BenchCallback callback();

 private:
  void show(const std::string& text) const;
  bool follow(const BenchProgress& progress);

  Parts parts_;
  std::string building_;
  int32_t rounds_;
};

}  // namespace paceline::cli
