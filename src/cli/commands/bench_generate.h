#pragma once

#include "cli/commands/bench_bandwidth.h"
#include "cli/commands/bench_spread.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "paceline/engine.h"

namespace paceline::cli {

/// Tokens per second of whole requests, sampling and text included.
struct GenerateRates {
  Spread prefill;
  Spread decode;
};

/// Throws ExitWith on Ctrl-C.
GenerateRates measure_generate(Engine& engine, const BenchCommand& command, const Console& console,
                               const Interrupt& interrupt, Bandwidth& bandwidth);

}  // namespace paceline::cli
