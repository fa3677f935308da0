#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace paceline::formats {

struct Checkpoint;

/// The file's text; empty when it is absent. Error{bad_checkpoint} when larger than bytes_max.
std::string read_text(const std::filesystem::path& path, std::size_t bytes_max);

/// Fills the texts of a safetensors folder, each with a limit of its own (docs/formats.md).
void read_texts(const std::filesystem::path& folder, Checkpoint& checkpoint);

}  // namespace paceline::formats
