#include "cached_file.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

namespace paceline::text {

std::optional<std::filesystem::path> cached_file(const std::filesystem::path& relative) {
  const char* home = std::getenv("HOME");
  auto path = std::filesystem::path(home ? home : "/root") / ".cache/paceline" / relative;
  if (std::filesystem::exists(path)) return path;
  std::cout << "skipped: " << relative.string() << ": not cached\n";
  return std::nullopt;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace paceline::text
