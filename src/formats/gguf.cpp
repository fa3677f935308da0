#include "formats/gguf.h"

#include <string>

#include "formats/byte_reader.h"
#include "formats/file_context.h"

namespace paceline::formats {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"

void check_version(uint32_t version, const FileContext& file) {
  if (version == 2 || version == 3) return;
  if (version != 0 && (version & 0xffff) == 0) file.unsupported("is big-endian, expected little-endian");
  file.unsupported("version " + std::to_string(version) + ", expected 2 or 3");
}

/// A count that could not fit the bytes left is refused before anything is allocated for it.
uint64_t check_count(uint64_t count, uint64_t max, const char* what, const FileContext& file) {
  if (count <= max) return count;
  file.bad(std::to_string(count) + " " + what + ", expected at most " + std::to_string(max));
}

uint64_t alignment_of(const Metadata& metadata, const FileContext& file) {
  constexpr std::string_view kKey = "general.alignment";
  constexpr int64_t kDefault = 32;
  const int64_t alignment = metadata.integer(kKey).value_or(kDefault);
  if (alignment <= 0 || alignment % 8 != 0 || alignment > static_cast<int64_t>(GgufLimits::kAlignmentMax)) {
    file.bad("general.alignment " + std::to_string(alignment) + ", expected a multiple of 8 up to " +
             std::to_string(GgufLimits::kAlignmentMax));
  }
  return static_cast<uint64_t>(alignment);
}

}  // namespace

GgufFile parse_gguf(std::span<const std::byte> bytes, std::string_view name) {
  const FileContext file("gguf", name);
  ByteReader reader(bytes, file);
  if (reader.number<uint32_t>("the magic") != kMagic) file.bad("does not begin with 'GGUF'");
  check_version(reader.number<uint32_t>("the version"), file);
  const auto tensors = reader.number<uint64_t>("the tensor count");
  const auto keys = reader.number<uint64_t>("the key count");
  check_count(tensors, GgufLimits::kTensorsMax, "tensors", file);
  check_count(keys, GgufLimits::kKeysMax, "keys", file);

  GgufFile out;
  out.metadata = read_gguf_metadata(reader, keys, file);
  const uint64_t alignment = alignment_of(out.metadata, file);
  out.tensors = read_gguf_tensors(reader, tensors, bytes, alignment, file);
  return out;
}

}  // namespace paceline::formats
