#include "cli/commands/bench_progress.h"

#include <fmt/format.h>

#include <utility>

namespace paceline::cli {

RoundProgress::RoundProgress(const Parts& parts, std::string building, int32_t rounds)
    : parts_(parts), building_(std::move(building)), rounds_(rounds) {}

RoundProgress::~RoundProgress() { show(""); }

BenchCallback RoundProgress::callback() {
  return [this](const BenchProgress& progress) { return follow(progress); };
}

void RoundProgress::show(const std::string& text) const {
  if (parts_.console.settings().live_error) {
    parts_.console.live(text);
  }
}

bool RoundProgress::follow(const BenchProgress& progress) {
  const std::string what =
      progress.round == 0 ? building_ : fmt::format("round {} of {}", progress.round, rounds_);
  show(fmt::format("{}  {:.0f} %", what, 100 * progress.fraction));
  if (progress.round > 0 && progress.fraction == 1) {
    parts_.bandwidth.sample();
  }
  return !parts_.interrupt.take();
}

}  // namespace paceline::cli
