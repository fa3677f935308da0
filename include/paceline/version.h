#pragma once

#include <string_view>

#include "paceline/export.h"

namespace paceline {

/// This library's own version, for example "0.1.0".
PACELINE_EXPORT std::string_view version();

}  // namespace paceline
