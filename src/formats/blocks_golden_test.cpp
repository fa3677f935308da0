#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "base/mapped_file.h"
#include "formats/safetensors.h"

// tests/golden/blocks.safetensors: blocks and their values by the gguf package and by the MLX
// definition.

using namespace paceline;
using namespace paceline::formats;
using blocks::Encoding;
using blocks::StoredTensor;

namespace {

using Tensors = std::map<std::string, StoredTensor>;

Tensors golden(const base::MappedFile& file) {
  Tensors tensors;
  for (StoredTensor& t : parse_safetensors(file.bytes(), "blocks.safetensors").tensors) tensors[t.name] = std::move(t);
  return tensors;
}

Encoding encoding_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Encoding::q2_0); ++i) {
    if (blocks::info(static_cast<Encoding>(i)).name == name) return static_cast<Encoding>(i);
  }
  FAIL("no encoding is named ", name);
  return {};
}

/// Bit for bit, signs of zero included.
bool decodes_to(const StoredTensor& tensor, const StoredTensor& values) {
  std::vector<float> out(static_cast<std::size_t>(tensor.values()));
  decode_rows(tensor, 0, tensor.rows(), out);
  const bool same_size = out.size() * sizeof(float) == values.data.size();
  return same_size && std::memcmp(out.data(), values.data.data(), values.data.size()) == 0;
}

std::string stem_of(const std::string& name, std::string_view suffix) {
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : "";
}

}  // namespace

TEST_CASE("GGUF blocks decode bit for bit as in the gguf package") {
  const base::MappedFile file("tests/golden/blocks.safetensors");
  const Tensors tensors = golden(file);
  int types = 0;
  for (const auto& [name, raw] : tensors) {
    const std::string type = stem_of(name, ".raw");
    if (type.empty()) continue;
    CAPTURE(type);
    const StoredTensor& values = tensors.at(type + ".values");
    const StoredTensor blocks{.name = type,
                              .encoding = encoding_named(type),
                              .shape = values.shape,
                              .data = raw.data,
                              .groups = std::nullopt};
    CHECK(decodes_to(blocks, values));
    ++types;
  }
  CHECK(types >= 15);
}

TEST_CASE("MLX groups decode bit for bit as scale * code + bias in f32") {
  const base::MappedFile file("tests/golden/blocks.safetensors");
  const Tensors tensors = golden(file);
  int cases = 0;
  for (const auto& [name, weight] : tensors) {
    const std::string key = stem_of(name, ".weight");
    if (!key.starts_with("mlx.")) continue;
    CAPTURE(key);
    int bits = 0, group = 0;
    char mode[16] = {};
    REQUIRE(std::sscanf(key.c_str(), "mlx.%15[a-z0-9].%d.%d", mode, &bits, &group) == 3);
    const StoredTensor& values = tensors.at(key + ".values");
    const StoredTensor& scales = tensors.at(key + ".scales");
    const auto biases = tensors.find(key + ".biases");
    StoredTensor tensor = weight;
    tensor.encoding = encoding_named(mode);
    tensor.shape = values.shape;
    tensor.groups = blocks::MlxGroups{bits, group, scales.encoding, scales.data,
                                      biases == tensors.end() ? std::span<const std::byte>{} : biases->second.data};
    CHECK(decodes_to(tensor, values));
    ++cases;
  }
  CHECK(cases >= 39);
}
