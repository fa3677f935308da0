#include "cli/commands/bench_bandwidth.h"

#include <cstddef>

#include "cli/commands/bench_spread.h"
#include "cli/machine.h"

namespace paceline::cli {
namespace {

constexpr std::size_t kBytes = 256 << 20;  // beyond every cache

}  // namespace

void Bandwidth::sample() {
  one_.push_back(read_bandwidth(kBytes, 1));
  all_.push_back(threads_ == 1 ? one_.back() : read_bandwidth(kBytes, threads_));
}

double Bandwidth::one_thread() const { return spread_of(one_).median; }
double Bandwidth::all_threads() const { return spread_of(all_).median; }

}  // namespace paceline::cli
