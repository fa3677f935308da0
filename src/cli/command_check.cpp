#include "cli/command_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

// Limits of StepShape and StepPlan.
constexpr int64_t kStepTokensMax = 8192;
constexpr int64_t kHeldTokensMax = 65536;

template <typename T>
T with_model(T command, const std::string& name) {
  if (command.model.model.empty()) {
    throw UsageError("[" + name + "] found no model, expected 'paceline " + name +
                     " MODEL' (paceline list)");
  }
  return command;
}

}  // namespace

RunCommand checked(RunCommand command) {
  if (command.logprobs >= 0 && !command.json) {
    throw UsageError(
        "[--logprobs] found no --json, expected both (log-probabilities are only part of the "
        "JSON)");
  }
  if (command.raw && !command.system.empty()) {
    throw UsageError(
        "[--system] found --raw too, expected only one (raw prompts have no messages)");
  }
  if (command.raw && !command.load.chat_template_file.empty()) {
    throw UsageError("[--chat-template] found --raw too, expected only one");
  }
  return command;
}

PullCommand checked(PullCommand command) { return with_model(std::move(command), "pull"); }
RemoveCommand checked(RemoveCommand command) { return with_model(std::move(command), "rm"); }
InspectCommand checked(InspectCommand command) { return with_model(std::move(command), "inspect"); }

BenchCommand checked(BenchCommand command) {
  const int64_t rows = std::max(command.rows, 1);
  const int64_t new_tokens = std::max(command.new_tokens, 1);
  if (command.asks_for_step() && command.measure == BenchCommand::Measure::answer) {
    throw UsageError("[--measure] found answer and a step, expected only one");
  }
  if (rows * new_tokens > kStepTokensMax) {
    throw UsageError(fmt::format("[--new] found {} tokens in {} rows, expected at most {} in all",
                                 new_tokens, rows, kStepTokensMax));
  }
  if (rows * command.context > kHeldTokensMax) {
    throw UsageError(
        fmt::format("[--context] found {} tokens in {} rows, expected at most {} in all",
                    command.context, rows, kHeldTokensMax));
  }
  if (command.operations && (!command.model.model.empty() || command.asks_for_step())) {
    throw UsageError(
        "[--ops] found a model or a step too, expected none: the operation table needs no model");
  }
  return command;
}

TokenizeCommand checked(TokenizeCommand command, const std::optional<std::string>& text) {
  if (text) {
    command.text = *text;
  } else if (!command.model.model.empty()) {
    command.text = std::exchange(command.model.model, {});
  } else {
    throw UsageError(
        "[tokenize] found no text, expected 'paceline tokenize [MODEL] TEXT' (- reads standard "
        "input)");
  }
  if (command.ids_only && command.json) {
    throw UsageError("[--ids] found --json too, expected only one");
  }
  return command;
}

}  // namespace paceline::cli
