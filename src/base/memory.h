#pragma once

#include <cstdint>
#include <optional>

namespace paceline::base {

/// Bytes that new allocations can take without swapping, as the system estimates them; nullopt
/// where it does not say.
std::optional<int64_t> available_memory();

/// Gives free heap memory back to the system, where the C library can.
void trim_heap();

}  // namespace paceline::base
