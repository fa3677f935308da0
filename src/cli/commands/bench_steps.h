#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/commands/bench_progress.h"
#include "cli/commands/bench_spread.h"
#include "cli/options.h"
#include "paceline/bench.h"

namespace paceline::cli {

/// Throws UsageError when the asked-for step does not fit the loaded context.
StepPlan step_plan(const BenchCommand& command, int32_t context);

/// One forward shape, measured.
struct StepLine {
  StepShape shape;
  int32_t runs = 0;
  Spread ms;
  double tokens_per_second = 0;
  double over_one = 0;          ///< times the one-token step of this context; 0 when not measured
  double weight_bandwidth = 0;  ///< bytes per second
};
std::vector<StepLine> step_lines(const std::vector<StepTimes>& times, int64_t step_bytes);

std::string steps_text(const std::vector<StepLine>& lines);
nlohmann::ordered_json steps_json(const std::vector<StepLine>& lines);

}  // namespace paceline::cli
