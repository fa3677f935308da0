#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/export.h"

namespace paceline {

/// This library's own version, for example "0.1.0".
PACELINE_EXPORT std::string_view version();
/// Version of the MLX library in use.
PACELINE_EXPORT std::string mlx_version();
/// Instruction sets that this CPU and this build both have, best first: "avx512", "avx2",
/// "generic".
PACELINE_EXPORT std::vector<std::string> instruction_sets();

}  // namespace paceline
