#include "formats/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/byte_reader.h"
#include "formats/strict_json.h"

namespace paceline::formats {
namespace {

using blocks::Encoding;
using blocks::StoredTensor;
using Json = nlohmann::json;

constexpr uint64_t kHeaderBytesMax = 100'000'000;  // the reference implementation's limit
constexpr JsonLimits kHeaderLimits{.depth_max = 3, .values_max = 4'000'000};
constexpr std::size_t kDimsMax = 16;
constexpr uint64_t kExtentMax = uint64_t{1} << 53;

struct Entry {
  StoredTensor tensor;
  uint64_t begin = 0, end = 0;
};

Encoding encoding_of(const std::string& name, const std::string& where, const FileContext& file) {
  using enum Encoding;
  for (const Encoding one : {f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean,
                             f8_e4m3, f8_e5m2, f8_e8m0, c64}) {
    if (blocks::info(one).name == name) return one;
  }
  file.unsupported(where + "dtype " + shown(name) + " is unknown");
}

uint64_t whole_number(const Json& value, const std::string& where, const FileContext& file) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > kExtentMax) {
    file.bad(where + "found " + shown(value.dump()) + ", expected a whole number up to 2^53");
  }
  return value.get<uint64_t>();
}

const Json& member(const Json& entry, const char* key, Json::value_t type, const std::string& where,
                   const FileContext& file) {
  const auto at = entry.find(key);
  if (at == entry.end()) file.bad(where + "no '" + key + "'");
  if (at->type() != type) file.bad(where + "'" + key + "' is of type " + at->type_name());
  return *at;
}

uint64_t byte_size(const StoredTensor& tensor, const std::string& where, const FileContext& file) {
  int64_t size = blocks::info(tensor.encoding).block_bytes;
  bool fits = true;
  for (const int64_t extent : tensor.shape) fits = fits && multiply(size, extent, size);
  if (!fits) file.bad(where + "its size does not fit 63 bits");
  return static_cast<uint64_t>(size);
}

Entry parse_entry(const std::string& name, const Json& json, const FileContext& file) {
  const std::string where = "tensor " + shown(name) + ": ";
  if (!json.is_object() || json.size() != 3) {
    file.bad(where + "expected exactly dtype, shape and data_offsets");
  }
  Entry entry;
  entry.tensor.name = name;
  const Json& dtype = member(json, "dtype", Json::value_t::string, where, file);
  entry.tensor.encoding = encoding_of(dtype.get_ref<const std::string&>(), where, file);
  const Json& shape = member(json, "shape", Json::value_t::array, where, file);
  if (shape.size() > kDimsMax) {
    file.bad(where + std::to_string(shape.size()) + " dimensions, expected at most " +
             std::to_string(kDimsMax));
  }
  for (const Json& extent : shape) {
    entry.tensor.shape.push_back(
        static_cast<int64_t>(whole_number(extent, where + "shape: ", file)));
  }
  const Json& offsets = member(json, "data_offsets", Json::value_t::array, where, file);
  if (offsets.size() != 2) file.bad(where + "data_offsets: expected begin and end");
  entry.begin = whole_number(offsets[0], where + "data_offsets: ", file);
  entry.end = whole_number(offsets[1], where + "data_offsets: ", file);
  return entry;
}

void check_range(const Entry& entry, uint64_t data_bytes, const FileContext& file) {
  const std::string where = "tensor " + shown(entry.tensor.name) + ": ";
  const std::string range =
      "[" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + ")";
  const uint64_t expected = byte_size(entry.tensor, where, file);
  if (entry.begin > entry.end) file.bad(where + "data_offsets " + range + " run backwards");
  if (entry.end > data_bytes) {
    file.bad(where + "bytes " + range + ", the file holds " + std::to_string(data_bytes) +
             " bytes of data (cut short?)");
  }
  if (entry.end - entry.begin != expected) {
    file.bad(where + "bytes " + range + ", expected " + std::to_string(expected) +
             " bytes by dtype and shape");
  }
}

/// The tensors must tile the data: nothing hidden between them, nothing shared.
void check_tiling(const std::vector<Entry>& entries, uint64_t data_bytes, const FileContext& file) {
  std::vector<const Entry*> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t expected = 0;
  for (const Entry* entry : order) {
    if (entry->begin != expected) {
      file.bad("tensor " + shown(entry->tensor.name) + ": begins at byte " +
               std::to_string(entry->begin) +
               (entry->begin < expected ? ", overlaps" : ", leaves a hole after") +
               " the one that ends at " + std::to_string(expected));
    }
    expected = entry->end;
  }
  if (expected != data_bytes) {
    file.bad("the tensors end at byte " + std::to_string(expected) + " of the data, expected " +
             std::to_string(data_bytes));
  }
}

void parse_metadata(const Json& json, SafetensorsFile& out, const FileContext& file) {
  if (!json.is_object())
    file.bad("__metadata__ is of type " + std::string(json.type_name()) + ", expected an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) file.bad("__metadata__ key " + shown(key) + ": expected a string");
    out.metadata.emplace(key, value.get<std::string>());
  }
}

std::string_view header_text(ByteReader& reader, const FileContext& file) {
  const auto size = reader.number<uint64_t>("the header's length");
  if (size == 0 || size > kHeaderBytesMax) {
    file.bad("a header of " + std::to_string(size) + " bytes, expected 1 to " +
             std::to_string(kHeaderBytesMax));
  }
  const std::string_view text = reader.text(size, "the header");
  if (text.front() != '{') file.bad("the header does not begin with '{'");
  return text;
}

}  // namespace

SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, std::string_view name) {
  const FileContext file("safetensors", name);
  ByteReader reader(bytes, file);
  const Json header = parse_object(header_text(reader, file), file, kHeaderLimits);
  const std::span<const std::byte> data = bytes.subspan(reader.position());

  SafetensorsFile out;
  std::vector<Entry> entries;
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__") {
      parse_metadata(value, out, file);
      continue;
    }
    entries.push_back(parse_entry(key, value, file));
    check_range(entries.back(), data.size(), file);
  }
  check_tiling(entries, data.size(), file);
  for (Entry& entry : entries) {
    entry.tensor.data = data.subspan(entry.begin, entry.end - entry.begin);
    out.tensors.push_back(std::move(entry.tensor));
  }
  return out;
}

}  // namespace paceline::formats
