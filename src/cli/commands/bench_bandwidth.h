#pragma once

#include <cstdint>
#include <vector>

namespace paceline::cli {

/// The machine's read bandwidth in the minutes of a measurement: sampled between its rounds.
class Bandwidth {
 public:
  explicit Bandwidth(int32_t threads) : threads_(threads) {}
  void sample();

  /// Bytes per second, the median of the samples; there is at least one.
  double one_thread() const;
  double all_threads() const;

 private:
  int32_t threads_;
  std::vector<double> one_;
  std::vector<double> all_;
};

}  // namespace paceline::cli
