// Measurements of the stand-in for the engine: the same figures in every run.
#include "paceline/bench.h"

namespace paceline {
namespace {

// Three values per round, of which the middle one is 1 more than the smallest.
std::vector<double> around(double smallest, int32_t rounds) {
  std::vector<double> ms;
  for (int32_t i = 0; i < rounds; ++i) {
    ms.insert(ms.end(), {smallest + 2, smallest, smallest + 1});
  }
  return ms;
}

void tell_rounds(const BenchCallback& on_progress, int32_t rounds) {
  for (int32_t round = 0; on_progress && round <= rounds; ++round) {
    on_progress({.round = round, .fraction = 1});
  }
}

}  // namespace

// 9 ms for a token and 1 ms for each further one.
std::vector<StepTimes> measure_steps(Engine& engine, const StepPlan& plan) {
  tell_rounds(plan.on_progress, plan.rounds);
  std::vector<StepTimes> times;
  for (const StepShape& shape : plan.shapes) {
    if (shape.context + shape.tokens > engine.info().context) {
      throw Error(ErrorCode::invalid_argument, "[fake] context");
    }
    times.push_back({.shape = shape, .ms = around(8.0 + shape.rows * shape.tokens, plan.rounds)});
  }
  return times;
}

OperationReport measure_operations(const OperationPlan& plan) {
  tell_rounds(plan.on_progress, plan.rounds);
  OperationTimes operation{.name = "linear fake",
                           .shape = "3 x 4",
                           .bytes = 1000,
                           .operations = 2000,
                           .ms = {0.003, 0.001, 0.002}};
  OperationReport report{.instruction_set = "avx2",
                         .threads = 2,
                         .peaks = {.f32 = 2e9, .int8 = 4e9},
                         .operations = {operation, operation}};
  report.operations.back().name = "linear int8";
  report.operations.back().integer = true;
  return report;
}

}  // namespace paceline
