#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "blocks/stored_tensor.h"

namespace paceline::formats {

class FileContext;

/// How one module's weight is packed.
struct MlxParameters {
  blocks::Encoding mode = blocks::Encoding::mlx_affine;
  int bits = 0;
  int group_size = 0;

  bool operator==(const MlxParameters&) const = default;
};

/// The `quantization` block of config.json.
struct MlxQuantization {
  std::optional<MlxParameters> global;
  /// By module path; nullopt: the module is not quantised (`false` in the file).
  std::map<std::string, std::optional<MlxParameters>, std::less<>> modules;
};

struct ConfigSummary {
  std::string model_type;        ///< empty when the file names none
  MlxQuantization quantization;  ///< empty when the file has none
};

/// Reads `model_type` and `quantization` or `quantization_config` (also inside text_config). Throws
/// Error{bad_checkpoint} on malformed text, Error{unsupported} on a quantisation method of others.
ConfigSummary parse_config(std::string_view json, const FileContext& file);

using TensorMap = std::map<std::string, blocks::StoredTensor, std::less<>>;

/// Turns X.weight + X.scales (+ X.biases) into one entry X.weight with an mlx_* encoding and the
/// logical shape. Throws Error{bad_checkpoint} when types or shapes contradict the parameters.
void fold_mlx(TensorMap& tensors, const MlxQuantization& quantization, const FileContext& file);

}  // namespace paceline::formats
