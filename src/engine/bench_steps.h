#pragma once

#include <cstdint>
#include <vector>

#include "engine/executor.h"
#include "paceline/bench.h"

namespace paceline::engine {

/// What a plan may use of the model.
struct StepLimits {
  int32_t context = 0;  ///< tokens of one sequence
  int32_t vocab = 0;    ///< ids below it exist
};

/// Throws Error{invalid_argument} naming the field.
void check_plan(const StepPlan& plan, const StepLimits& limits);

/// measure_steps() on the engine thread; the plan has passed check_plan(). Every round visits the
/// shapes in order, so that what the machine does besides falls on all of them alike.
std::vector<StepTimes> run_steps(Executor& executor, const StepPlan& plan,
                                 const StepLimits& limits);

}  // namespace paceline::engine
