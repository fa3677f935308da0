#pragma once

#include <string>
#include <vector>

#include "paceline/export.h"

namespace paceline {

/// Paceline's own version, "major.minor.patch".
PACELINE_EXPORT std::string version();
/// Version of the MLX library in use.
PACELINE_EXPORT std::string mlx_version();
/// Instruction sets that this CPU and this build both have, best first: "avx512", "avx2",
/// "generic".
PACELINE_EXPORT std::vector<std::string> instruction_sets();

}  // namespace paceline
