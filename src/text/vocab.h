#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::text {

/// A vocabulary as GGUF files state it (tokenizer.ggml.*). Views must live while the tokenizer is
/// built.
struct GgufVocab {
  std::string model;  ///< "gpt2", "llama", ...
  std::string pre;    ///< pre-tokenizer name, for gpt2
  std::vector<std::string_view> tokens;
  std::vector<int64_t>
      types;  ///< 1 normal 2 unknown 3 control 4 user-defined 5 unused 6 byte; may be empty
  std::vector<double> scores;            ///< llama only
  std::vector<std::string_view> merges;  ///< gpt2 only
  std::optional<int32_t> bos, eos, eot, eom, unknown, padding;
  std::optional<bool> add_bos, add_eos, add_space_prefix;
};

/// As printed for a person: "gpt2 (pre NAME)", "sentencepiece", "none".
std::string vocab_kind(const GgufVocab& vocab);

}  // namespace paceline::text
