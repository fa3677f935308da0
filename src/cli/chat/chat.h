#pragma once

#include "cli/session.h"

namespace paceline::cli {

/// Talks with a person at a terminal until /exit or Ctrl-D. Returns the exit code.
int chat(Session& session, const std::string& model_name, const Console& console);

}  // namespace paceline::cli
