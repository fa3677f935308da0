#include "paceline/version.h"

namespace paceline {

std::string_view version() { return PACELINE_VERSION; }

}  // namespace paceline
