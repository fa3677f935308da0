#include "cli/command_check.h"

#include <utility>

#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

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
