#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

namespace paceline::testing {

/// Where `paceline pull` and ./test keep models.
inline std::filesystem::path cache_dir() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') {
    return std::filesystem::path(xdg) / "paceline";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr ? home : "/root") / ".cache" / "paceline";
}

/// Path of a cached model file, or nullopt after printing why the test is skipped.
inline std::optional<std::filesystem::path> cached_model(const std::string& file) {
  std::filesystem::path path = cache_dir() / "models" / file;
  if (std::filesystem::exists(path)) return path;
  std::cout << "skipped: " << file << ": not cached (./test --models fetches it)\n";
  return std::nullopt;
}

}  // namespace paceline::testing
