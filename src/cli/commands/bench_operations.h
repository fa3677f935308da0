#pragma once

#include "cli/console.h"
#include "cli/options.h"

namespace paceline::cli {

/// `paceline bench --ops`: the operation table.
int bench_operations(const BenchCommand& command, const Console& console);

}  // namespace paceline::cli
