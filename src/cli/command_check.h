#pragma once

#include <optional>
#include <string>

#include "cli/options.h"

namespace paceline::cli {

// What no single option can check: the same command, or UsageError.

RunCommand checked(RunCommand command);
PullCommand checked(PullCommand command);
RemoveCommand checked(RemoveCommand command);
InspectCommand checked(InspectCommand command);
BenchCommand checked(BenchCommand command);
/// With one word alone, `command.model` holds the text.
TokenizeCommand checked(TokenizeCommand command, const std::optional<std::string>& text);

}  // namespace paceline::cli
