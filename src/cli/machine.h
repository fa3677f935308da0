#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace paceline::cli {

/// "model name" of /proc/cpuinfo, or "unknown".
std::string cpu_name();

/// Bytes per second that `threads` threads read together from memory: the best of a few passes over
/// `bytes` of huge pages.
double read_bandwidth(std::size_t bytes, int32_t threads);

}  // namespace paceline::cli
