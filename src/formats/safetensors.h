#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/stored_tensor.h"
#include "formats/checkpoint.h"

namespace paceline::formats {

/// One safetensors file. Spans point into the parsed bytes.
struct SafetensorsFile {
  std::map<std::string, std::string, std::less<>> metadata;  ///< "__metadata__"
  std::vector<blocks::StoredTensor> tensors;                 ///< by name
};

/// Parses and checks a whole file; `name` is used in messages. Throws Error{bad_checkpoint} or, for
/// types this build does not know, Error{unsupported}. Any thread.
SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, std::string_view name);

/// Opens a file with the texts beside it, or a folder: its index, else model*.safetensors, else the
/// only .safetensors file.
Checkpoint open_safetensors(const std::filesystem::path& path);

}  // namespace paceline::formats
