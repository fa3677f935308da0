#include <filesystem>
#include <fstream>
#include <string>

#include "support/gguf_builder.h"
#include "support/safetensors_builder.h"

// Usage: fuzz_format_seeds FOLDER. Writes FOLDER/gguf/* and FOLDER/safetensors/*.

namespace {

using namespace paceline::support;

void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// One tensor of every decodable block type.
std::vector<std::byte> every_block_type() {
  GgufBuilder b;
  uint64_t offset = 0;
  for (const uint32_t type : {0, 1, 2, 3, 6, 7, 8, 10, 11, 12, 13, 14, 20, 23, 30, 39}) {
    b.tensor({.name = "t" + std::to_string(type), .dims = {256}, .type = type, .offset = offset});
    offset += 1024;
  }
  b.data.fill(offset, 0x31);
  return b.build();
}

/// The input of fuzz_safetensors: the config padded to a multiple of 8, then the file.
std::vector<std::byte> with_config(std::string config, const SafetensorsBuilder& builder) {
  config.resize((config.size() + 7) / 8 * 8, ' ');
  ByteWriter out;
  out.number(static_cast<uint8_t>(config.size() / 8)).raw(config);
  for (const std::byte b : builder.build()) out.number(b);
  return out.bytes();
}

SafetensorsBuilder quantised(const char* scale_type, std::size_t scale_bytes, bool biases) {
  SafetensorsBuilder b;
  b.tensor("x.weight", "U32", "[2,8]", 64).tensor("x.scales", scale_type, "[2,2]", scale_bytes);
  if (biases) b.tensor("x.biases", scale_type, "[2,2]", scale_bytes);
  return b.tensor("n.weight", "F16", "[3]", 6);
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "seeds";
  write(folder / "gguf/values", valid_gguf().build());
  write(folder / "gguf/blocks", every_block_type());
  const std::filesystem::path safetensors = folder / "safetensors";
  write(safetensors / "dense", with_config("", SafetensorsBuilder().tensor("a", "BF16", "[2,2]", 8)));
  write(safetensors / "affine",
        with_config(R"({"quantization":{"bits":4,"group_size":32,"y":false}})", quantised("BF16", 8, true)));
  write(safetensors / "affine8", with_config(R"({"text_config":{"quantization_config":{"bits":2,"group_size":64}}})",
                                             quantised("F32", 16, true)));
  write(safetensors / "mxfp4", with_config(R"({"quantization":{"mode":"mxfp4"}})", quantised("U8", 4, false)));
  return 0;
}
