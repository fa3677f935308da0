#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace paceline::cli {

constexpr std::size_t kInputBytesMax = 64 << 20;

/// Everything that `fd` still holds. `on_wait` is called once when nothing has come for two
/// seconds. Throws Error{io, invalid_argument} when it cannot be read or is larger than
/// kInputBytesMax. A closed fd holds nothing.
std::string read_all(int fd, const std::function<void()>& on_wait);

/// A whole file. Throws Error{not_found, io}; `where` names the option.
std::string read_file(const std::string& path, const std::string& where);

}  // namespace paceline::cli
