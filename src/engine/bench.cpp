#include "paceline/bench.h"

#include <mlx/stream.h>

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "engine/bench_ops.h"
#include "engine/bench_peaks.h"
#include "engine/bench_rounds.h"
#include "engine/bench_steps.h"
#include "engine/engine_impl.h"

namespace paceline {
namespace {

OperationReport run_operations(const OperationPlan& plan) {
  const kernels::Context ctx = kernels::make_context(
      plan.threads, kernels::parse_isa(plan.isa), false,
      plan.numerics == Numerics::fast ? kernels::Numerics::fast : kernels::Numerics::exact);
  const std::vector<engine::Operation> operations = engine::make_operations(ctx);
  std::vector<engine::Timed> timed;
  for (const engine::Operation& operation : operations)
    timed.push_back({.calls = operation.calls, .run = operation.run});

  OperationReport report{.instruction_set = std::string(kernels::name(ctx.isa)),
                         .threads = ctx.pool->size(),
                         .peaks = {},
                         .operations = {}};
  const auto on_progress = [&](const BenchProgress& progress) {
    if (progress.fraction == 1) {
      const ArithmeticPeaks peaks = engine::measure_peaks(ctx);
      report.peaks.f32 = std::max(report.peaks.f32, peaks.f32);
      report.peaks.int8 = std::max(report.peaks.int8, peaks.int8);
    }
    return !plan.on_progress || plan.on_progress(progress);
  };
  std::vector<std::vector<double>> ms = engine::run_rounds(timed, plan.rounds, on_progress);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const engine::Operation& operation = operations[i];
    report.operations.push_back({.name = operation.name,
                                 .shape = operation.shape,
                                 .rows = operation.rows,
                                 .bytes = operation.bytes,
                                 .operations = operation.operations,
                                 .integer = operation.integer,
                                 .ms = std::move(ms[i])});
  }
  return report;
}

}  // namespace

std::vector<StepTimes> measure_steps(Engine& engine, const StepPlan& plan) {
  const engine::StepLimits limits{.context = engine.info().context,
                                  .vocab = engine.info().vocab_size};
  engine::check_plan(plan, limits);
  std::vector<StepTimes> times;
  engine.impl_->worker->call(
      [&](engine::Executor& executor) { times = engine::run_steps(executor, plan, limits); });
  return times;
}

OperationReport measure_operations(const OperationPlan& plan) {
  if (plan.rounds < 1 || plan.rounds > engine::kRoundsMax) {
    throw Error(ErrorCode::invalid_argument, "[bench] rounds is " + std::to_string(plan.rounds) +
                                                 ", expected 1 to " +
                                                 std::to_string(engine::kRoundsMax));
  }
  // A thread of its own, whose MLX streams end with it.
  return std::async(std::launch::async,
                    [&plan] {
                      struct Streams {
                        ~Streams() { mlx::core::clear_streams(); }
                      } streams;
                      return run_operations(plan);
                    })
      .get();
}

}  // namespace paceline
