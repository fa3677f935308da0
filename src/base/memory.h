#pragma once

#include <cstdint>
#include <optional>

namespace paceline::base {

/// Bytes that new allocations can take without swapping, as the system estimates them; nullopt
/// where it does not say.
std::optional<int64_t> available_memory();

}  // namespace paceline::base
