#pragma once

#include <string>

#include "paceline/inspect.h"

namespace paceline::cli {

std::string report_text(const ModelReport& report);
/// Every field of ModelReport under its own name.
std::string report_json(const ModelReport& report);

}  // namespace paceline::cli
