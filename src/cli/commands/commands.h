#pragma once

#include "cli/console.h"
#include "cli/options.h"

namespace paceline::cli {

// One function per command; each returns the exit code and throws Error, UsageError or ExitWith.

int run(const RunCommand& command, const Console& console);
int pull(const PullCommand& command, const Console& console);
int list(const ListCommand& command, const Console& console);
int remove(const RemoveCommand& command, const Console& console);
int inspect_model(const InspectCommand& command, const Console& console);
int tokenize(const TokenizeCommand& command, const Console& console);
int bench(const BenchCommand& command, const Console& console);
int show_version(const VersionCommand& command, const Console& console);

}  // namespace paceline::cli
