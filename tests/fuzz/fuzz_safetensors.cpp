#include <algorithm>

#include "formats/file_context.h"
#include "formats/mlx_quantization.h"
#include "formats/safetensors.h"
#include "fuzz/decode_some.h"
#include "paceline/error.h"

// Input: u8 length / 8 of a config.json, its text, then the safetensors file.

using namespace paceline;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t config_bytes = std::min<std::size_t>(data[0] * 8u, size - 1);
  const std::string_view config(reinterpret_cast<const char*>(data + 1), config_bytes);
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1 + config_bytes);
  const formats::FileContext context("fuzz", "fuzz.safetensors");
  try {
    formats::MlxQuantization quantization;
    if (!config.empty()) quantization = formats::parse_config(config, context).quantization;
    formats::TensorMap tensors;
    for (auto& tensor : formats::parse_safetensors(bytes, "fuzz.safetensors").tensors) {
      tensors.emplace(tensor.name, tensor);
    }
    formats::fold_mlx(tensors, quantization, context);
    for (const auto& [name, tensor] : tensors) fuzz::decode_some(tensor);
  } catch (const Error&) {
  }
  return 0;
}
