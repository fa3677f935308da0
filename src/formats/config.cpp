#include <nlohmann/json.hpp>
#include <string>

#include "formats/file_context.h"
#include "formats/mlx_quantization.h"
#include "formats/strict_json.h"

namespace paceline::formats {
namespace {

using blocks::Encoding;
using Json = nlohmann::json;

struct Mode {
  const char* name;
  MlxParameters defaults;  // MLX's, when only the mode is named
};
constexpr Mode kModes[] = {{"affine", {Encoding::mlx_affine, 4, 64}},
                           {"mxfp4", {Encoding::mlx_mxfp4, 4, 32}},
                           {"mxfp8", {Encoding::mlx_mxfp8, 8, 32}},
                           {"nvfp4", {Encoding::mlx_nvfp4, 4, 16}}};

class QuantizationReader {
 public:
  explicit QuantizationReader(const FileContext& file) : file_(file) {}

  MlxQuantization read(const Json& block) const {
    if (!block.is_object())
      file_.bad("quantization is of type " + std::string(block.type_name()) + ", expected an object");
    refuse_other_methods(block);
    MlxQuantization out;
    out.global = parameters(block, "quantization: ");
    for (const auto& [key, value] : block.items()) {
      const std::string where = "quantization of " + shown(key) + ": ";
      if (value.is_object()) out.modules.emplace(key, parameters(value, where));
      if (value.is_boolean() && !value.get<bool>()) out.modules.emplace(key, std::nullopt);
      if (value.is_boolean() && value.get<bool>()) out.modules.emplace(key, out.global);
    }
    return out;
  }

 private:
  void refuse_other_methods(const Json& block) const {
    const auto method = block.find("quant_method");
    if (method == block.end() || *method == "mlx") return;
    const std::string name = method->is_string() ? method->get<std::string>() : method->dump();
    file_.unsupported("quantised by " + shown(name) + "; expected a dense model, one quantised by MLX, or a GGUF file");
  }

  MlxParameters parameters(const Json& block, const std::string& where) const {
    MlxParameters out = mode(block, where).defaults;
    const Encoding encoding = out.mode;
    out.bits = small_number(block, "bits", out.bits, where);
    out.group_size = small_number(block, "group_size", out.group_size, where);
    const bool affine = (out.bits >= 2 && out.bits <= 8 && out.bits != 7) &&
                        (out.group_size == 32 || out.group_size == 64 || out.group_size == 128);
    const bool fits = encoding == Encoding::mlx_affine ? affine : out == mode(block, where).defaults;
    if (!fits) {
      file_.unsupported(where + std::to_string(out.bits) + " bits in groups of " + std::to_string(out.group_size) +
                        " do not exist in mode " + std::string(blocks::info(encoding).name));
    }
    return out;
  }

  const Mode& mode(const Json& block, const std::string& where) const {
    const auto named = block.find("mode");
    if (named == block.end()) return kModes[0];
    for (const Mode& one : kModes) {
      if (*named == one.name) return one;
    }
    file_.unsupported(where + "mode " + named->dump() + ", expected affine, mxfp4, mxfp8 or nvfp4");
  }

  int small_number(const Json& block, const char* key, int fallback, const std::string& where) const {
    const auto at = block.find(key);
    if (at == block.end() || at->is_null()) return fallback;
    if (!at->is_number_unsigned() || at->get<uint64_t>() > 4096) {
      file_.bad(where + key + " is " + shown(at->dump()) + ", expected a small whole number");
    }
    return at->get<int>();
  }

  const FileContext& file_;
};

const Json* find_block(const Json& config) {
  for (const char* key : {"quantization", "quantization_config"}) {
    const auto at = config.find(key);
    if (at != config.end() && !at->is_null()) return &*at;
  }
  return nullptr;
}

}  // namespace

ConfigSummary parse_config(std::string_view json, const FileContext& file) {
  ConfigSummary out;
  const Json config = parse_object(json, file);
  const auto type = config.find("model_type");
  if (type != config.end() && type->is_string()) out.model_type = type->get<std::string>();
  const Json* block = find_block(config);
  const auto text = config.find("text_config");
  if (block == nullptr && text != config.end() && text->is_object()) block = find_block(*text);
  if (block != nullptr) out.quantization = QuantizationReader(file).read(*block);
  return out;
}

}  // namespace paceline::formats
