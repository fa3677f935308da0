#include "engine/bench_steps.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/bench_rounds.h"

namespace paceline::engine {
namespace {

constexpr int32_t kRowsMax = 64;
constexpr int32_t kTokensMax = 4096;
constexpr int32_t kStepTokensMax = 8192;
constexpr int32_t kLogitsMax = 1024;         // of one step
constexpr int64_t kHeldTokensMax = 1 << 16;  // of all sequences together
constexpr int32_t kSlice = 512;              // tokens per forward while a context is built

void require(const char* field, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(ErrorCode::invalid_argument,
              std::string("[bench] ") + field + " is " + std::to_string(value) + ", expected " +
                  std::to_string(least) + " to " + std::to_string(most));
}

void check_shape(const StepShape& shape, int32_t context) {
  require("rows", shape.rows, 1, kRowsMax);
  require("tokens", shape.tokens, 1, kTokensMax);
  require("rows x tokens", int64_t{shape.rows} * shape.tokens, 1, kStepTokensMax);
  require("logits", shape.logits, 1, shape.tokens);
  require("rows x logits", int64_t{shape.rows} * shape.logits, 1, kLogitsMax);
  require("context", shape.context, 0, context);
  require("context + tokens", int64_t{shape.context} + shape.tokens, 1, context);
}

/// Per context the most rows that any shape wants of it.
std::map<int32_t, int32_t> rows_of_contexts(const StepPlan& plan) {
  std::map<int32_t, int32_t> rows;
  for (const StepShape& shape : plan.shapes) {
    int32_t& most = rows[shape.context];
    most = std::max(most, shape.rows);
  }
  return rows;
}

/// The sequences of a plan, shared by the shapes that have the same context.
class Contexts {
 public:
  Contexts(Executor& executor, const StepPlan& plan, const StepLimits& limits)
      : executor_(executor), ids_(static_cast<std::size_t>(limits.context)) {
    // Far apart in the table, as those of a text are.
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      ids_[i] = static_cast<TokenId>(i * 7919 % static_cast<std::size_t>(limits.vocab));
    }
    for (const auto& [context, rows] : rows_of_contexts(plan)) tokens_ += int64_t{context} * rows;
    for (const auto& [context, rows] : rows_of_contexts(plan)) {
      for (int32_t row = 0; row < rows; ++row) build(context, plan);
    }
  }

  std::vector<ProbeRow> rows_of(const StepShape& shape) const {
    const auto& sequences = sequences_.at(shape.context);
    const auto count = static_cast<std::size_t>(shape.tokens);
    const auto tokens = std::span(ids_).subspan(static_cast<std::size_t>(shape.context), count);
    std::vector<ProbeRow> rows;
    for (std::size_t row = 0; row < static_cast<std::size_t>(shape.rows); ++row) {
      rows.push_back({.sequence = sequences[row].get(), .tokens = tokens, .wanted = shape.logits});
    }
    return rows;
  }

 private:
  void build(int32_t context, const StepPlan& plan) {
    std::unique_ptr<ExecutorSequence> sequence = executor_.new_sequence();
    for (int32_t begin = 0; begin < context; begin += kSlice) {
      const auto count = static_cast<std::size_t>(std::min(kSlice, context - begin));
      const auto slice = std::span(ids_).subspan(static_cast<std::size_t>(begin), count);
      const StepRow row{.sequence = sequence.get(), .tokens = slice, .wants_logits = false};
      executor_.step({&row, 1});
      built_ += static_cast<int64_t>(count);
      tell(plan.on_progress,
           {.round = 0, .fraction = static_cast<double>(built_) / static_cast<double>(tokens_)});
    }
    sequences_[context].push_back(std::move(sequence));
  }

  Executor& executor_;
  std::vector<TokenId> ids_;
  int64_t tokens_ = 0;  // of all contexts
  int64_t built_ = 0;
  std::map<int32_t, std::vector<std::unique_ptr<ExecutorSequence>>> sequences_;
};

}  // namespace

void check_plan(const StepPlan& plan, const StepLimits& limits) {
  require("rounds", plan.rounds, 1, kRoundsMax);
  require("number of shapes", static_cast<int64_t>(plan.shapes.size()), 1, 64);
  for (const StepShape& shape : plan.shapes) check_shape(shape, limits.context);
  int64_t held = 0;
  for (const auto& [context, rows] : rows_of_contexts(plan)) held += int64_t{context} * rows;
  require("tokens of all contexts", held, 0, kHeldTokensMax);
}

std::vector<StepTimes> run_steps(Executor& executor, const StepPlan& plan,
                                 const StepLimits& limits) {
  const Contexts contexts(executor, plan, limits);
  std::vector<StepTimes> times;
  std::vector<Timed> timed;
  for (const StepShape& shape : plan.shapes) {
    times.push_back({.shape = shape, .ms = {}});
    timed.push_back(
        {.calls = 1, .run = [&executor, rows = contexts.rows_of(shape)] { executor.probe(rows); }});
  }
  std::vector<std::vector<double>> ms = run_rounds(timed, plan.rounds, plan.on_progress);
  for (std::size_t i = 0; i < times.size(); ++i) times[i].ms = std::move(ms[i]);
  return times;
}

}  // namespace paceline::engine
