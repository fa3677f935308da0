#include "cli/commands/bench_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

constexpr int32_t kVerifyMost = 16;  // wider steps are prompt slices, which want one row of logits

StepShape shape_of(int32_t rows, int32_t tokens, int32_t context) {
  return {.rows = rows,
          .tokens = tokens,
          .context = context,
          .logits = tokens <= kVerifyMost ? tokens : 1};
}

std::vector<StepShape> default_shapes() {
  return {shape_of(1, 1, 64),  shape_of(1, 1, 512), shape_of(1, 1, 4096), shape_of(1, 4, 512),
          shape_of(1, 8, 512), shape_of(1, 1, 128), shape_of(8, 1, 128),  shape_of(1, 512, 0)};
}

bool is_one_token(const StepShape& shape) { return shape.rows == 1 && shape.tokens == 1; }

/// The step that the flags describe, after the one-token step that it is compared with.
std::vector<StepShape> asked_shapes(const BenchCommand& command, int32_t context) {
  const int32_t held = std::max(command.context, 0);
  const StepShape asked =
      shape_of(std::max(command.rows, 1), std::max(command.new_tokens, 1), held);
  if (held + asked.tokens > context) {
    throw UsageError(fmt::format(
        "[--context] found {} with {} new tokens, expected at most {} together (--ctx loads more)",
        held, asked.tokens, context));
  }
  if (is_one_token(asked)) {
    return {asked};
  }
  return {shape_of(1, 1, held), asked};
}

std::string label_of(const StepShape& shape) {
  const std::string tokens = fmt::format("{} token{}", shape.tokens, shape.tokens == 1 ? "" : "s");
  const std::string rows = shape.rows == 1 ? "" : fmt::format("{} sequences x ", shape.rows);
  return fmt::format("{}{} at {}", rows, tokens, shape.context);
}

}  // namespace

StepPlan step_plan(const BenchCommand& command, int32_t context) {
  StepPlan plan;
  plan.rounds = command.repeat;
  if (command.asks_for_step()) {
    plan.shapes = asked_shapes(command, context);
    return plan;
  }
  for (const StepShape& shape : default_shapes()) {
    if (shape.context + shape.tokens <= context) {
      plan.shapes.push_back(shape);
    }
  }
  if (plan.shapes.empty()) {
    plan.shapes = {shape_of(1, 1, 0)};
  }
  return plan;
}

std::vector<StepLine> step_lines(const std::vector<StepTimes>& times, int64_t step_bytes) {
  std::vector<StepLine> lines;
  for (const StepTimes& entry : times) {
    StepLine line{.shape = entry.shape,
                  .runs = static_cast<int32_t>(entry.ms.size()),
                  .ms = spread_of(entry.ms)};
    const double seconds = line.ms.median / 1e3;
    line.tokens_per_second = entry.shape.rows * entry.shape.tokens / seconds;
    line.weight_bandwidth = static_cast<double>(step_bytes) / seconds;
    lines.push_back(line);
  }
  for (StepLine& line : lines) {
    for (const StepLine& one : lines) {
      if (is_one_token(one.shape) && one.shape.context == line.shape.context) {
        line.over_one = line.ms.median / one.ms.median;
      }
    }
  }
  return lines;
}

std::string steps_text(const std::vector<StepLine>& lines) {
  std::string text = fmt::format("{:<28} {:>9} {:>9} {:>9} {:>9} {:>7}\n", "step (forward only)",
                                 "median ms", "min ms", "tok/s", "x 1 token", "GB/s");
  for (const StepLine& line : lines) {
    const std::string ratio = line.over_one > 0 ? fmt::format("{:.2f}", line.over_one) : "-";
    text += fmt::format("{:<28} {:>9.2f} {:>9.2f} {:>9.1f} {:>9} {:>7.1f}\n", label_of(line.shape),
                        line.ms.median, line.ms.min, line.tokens_per_second, ratio,
                        line.weight_bandwidth / 1e9);
  }
  return text;
}

nlohmann::ordered_json steps_json(const std::vector<StepLine>& lines) {
  auto list = nlohmann::ordered_json::array();
  for (const StepLine& line : lines) {
    nlohmann::ordered_json entry{{"rows", line.shape.rows},
                                 {"new", line.shape.tokens},
                                 {"context", line.shape.context},
                                 {"logits", line.shape.logits},
                                 {"runs", line.runs},
                                 {"ms", spread_json(line.ms)},
                                 {"tok_s", line.tokens_per_second},
                                 {"over_one_token", nullptr},
                                 {"weight_bytes_s", line.weight_bandwidth}};
    if (line.over_one > 0) {
      entry["over_one_token"] = line.over_one;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace paceline::cli
