#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "blocks/stored_tensor.h"
#include "formats/checkpoint.h"
#include "formats/metadata.h"

namespace paceline::formats {

class ByteReader;
class FileContext;

/// What a file may ask for, each far above any model in the wild (docs/formats.md).
struct GgufLimits {
  static constexpr uint64_t kKeysMax = 1 << 16;
  static constexpr uint64_t kTensorsMax = 1 << 18;
  static constexpr uint64_t kArrayItemsMax = 1 << 24;  ///< all arrays of a file together
  static constexpr uint64_t kKeyBytesMax = 65535;
  static constexpr uint64_t kNameBytesMax = 64;
  static constexpr uint64_t kAlignmentMax = 1 << 16;
  static constexpr int64_t kSplitsMax = 1024;
};

/// One GGUF file. Strings and spans point into the parsed bytes.
struct GgufFile {
  Metadata metadata;
  std::vector<blocks::StoredTensor> tensors;  ///< in the file's order
};

/// Parses and checks a whole file; `name` is used in messages. Throws Error{bad_checkpoint} or, for
/// versions and types this build does not know, Error{unsupported}. Any thread.
GgufFile parse_gguf(std::span<const std::byte> bytes, std::string_view name);

/// The encoding of a ggml type number; nullopt when unknown.
std::optional<blocks::Encoding> gguf_encoding(uint32_t type);

/// Opens a file and, when it is one of a split, all its siblings.
Checkpoint open_gguf(const std::filesystem::path& path);

/// The parts of NAME-00001-of-00003.gguf.
struct SplitName {
  std::string stem;
  int64_t number = 0;  ///< from 1
  int64_t count = 0;
};
std::optional<SplitName> parse_split_name(std::string_view file_name);

// Parts of parse_gguf, one file each.
Metadata read_gguf_metadata(ByteReader& reader, uint64_t count, const FileContext& file);
std::vector<blocks::StoredTensor> read_gguf_tensors(ByteReader& reader, uint64_t count,
                                                    std::span<const std::byte> bytes, uint64_t alignment,
                                                    const FileContext& file);

}  // namespace paceline::formats
