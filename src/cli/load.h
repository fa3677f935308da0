#pragma once

#include <memory>

#include "cli/console.h"
#include "cli/options.h"
#include "paceline/engine.h"

namespace paceline::cli {

/// Finds the model, fetching it when needed, and loads it.
std::unique_ptr<Engine> load_engine(const ModelFlags& model, const LoadFlags& flags,
                                    const Console& console);

}  // namespace paceline::cli
