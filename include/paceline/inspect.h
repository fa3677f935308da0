#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "paceline/export.h"
#include "paceline/sampling.h"

namespace paceline {

/// What a model on disk is, read from its headers alone.
struct ModelReport {
  /// The tensors of one stored type.
  struct TypeShare {
    std::string type;  ///< as the format spells it: "Q4_K", "BF16", "mlx affine 4-bit g64"
    int64_t tensors = 0;
    int64_t parameters = 0;
    int64_t bytes = 0;
  };
  struct EndToken {
    TokenId id = 0;
    std::string text;
  };

  std::string name;                  ///< file or folder name
  std::string format;                ///< "gguf" or "safetensors"
  int32_t files = 0;                 ///< weight files, split or sharded ones counted
  std::string architecture;          ///< as the file states it
  bool supported = false;            ///< the architecture is known to this build
  std::string nearest_architecture;  ///< the known one closest to it; the tensors are compared with
                                     ///< that one
  int64_t parameters = 0;
  int64_t file_bytes = 0;
  int64_t tensor_bytes = 0;
  std::vector<TypeShare> types;  ///< descending bytes
  int32_t vocab_size = 0;        ///< entries of the tokenizer, 0 when the file does not say
  int32_t context_trained = 0;   ///< 0 when the file does not say
  bool has_chat_template = false;
  std::string tokenizer;  ///< "gpt2 (pre NAME)", "sentencepiece", "tokenizer.json (BPE)", "none"
  std::vector<EndToken> end_tokens;
  std::string problem;                  ///< why this build cannot load it, empty when it can
  std::vector<std::string> missing;     ///< tensors that the architecture expects
  std::vector<std::string> extra;       ///< tensors that nobody reads
  std::vector<std::string> mis_shaped;  ///< "name: found [..], expected [..]"
};

/// `model` as for Engine::load. Reads headers only. Throws Error{not_found, io, bad_checkpoint,
/// unsupported}; an unknown architecture is no error but `supported` false.
PACELINE_EXPORT ModelReport inspect(const std::filesystem::path& model);

}  // namespace paceline
