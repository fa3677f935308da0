#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "blocks/stored_tensor.h"
#include "formats/metadata.h"

namespace paceline::formats {

enum class Source { gguf, safetensors };

/// A model on disk: raw tensors under the file's own names, and its descriptions. Nothing is
/// decoded or copied. Name maps and per-architecture fixes live in models/.
struct Checkpoint {
  Source source = Source::gguf;
  std::filesystem::path path;
  std::string architecture;  ///< GGUF general.architecture, or config.json model_type
  Metadata metadata;         ///< GGUF only, of the first split file

  // Texts of a safetensors folder, each empty when the file is absent.
  std::string config_json;
  std::string generation_config_json;
  std::string tokenizer_json;
  std::string tokenizer_config_json;
  std::string special_tokens_map_json;
  std::string chat_template_jinja;  ///< chat_template.jinja
  std::string safetensors_format;   ///< __metadata__.format: "mlx", "pt" or empty

  /// An MLX-quantised X.weight + X.scales (+ X.biases) is one entry X.weight with an mlx_*
  /// encoding.
  std::map<std::string, blocks::StoredTensor, std::less<>> tensors;
  std::vector<std::shared_ptr<const base::MappedFile>> files;  ///< keep the tensors' bytes alive

  const blocks::StoredTensor* find(std::string_view name) const;
};

/// Opens a .gguf file (with its split siblings), a .safetensors file with config.json beside it, or
/// a folder. Reads headers only. Throws Error{not_found, io, bad_checkpoint, unsupported} naming
/// file, tensor, found, expected.
Checkpoint open_checkpoint(const std::filesystem::path& path);

}  // namespace paceline::formats
