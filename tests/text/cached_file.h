#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace paceline::text {

/// A file below the user's cache of models and peers; prints why a test goes without it when it is
/// not there.
std::optional<std::filesystem::path> cached_file(const std::filesystem::path& relative);

std::string read_file(const std::filesystem::path& path);

}  // namespace paceline::text
