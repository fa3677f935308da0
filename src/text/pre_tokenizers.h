#pragma once

#include <string_view>
#include <vector>

namespace paceline::text {

/// How a GGUF `tokenizer.ggml.pre` cuts text into words.
struct PreTokenizer {
  std::vector<std::string_view>
      splits;  ///< regular expressions, each applied to the pieces of the one before
  bool ignore_merges = false;  ///< a word that is a token needs no merges
  bool byte_level = true;      ///< false: raw UTF-8 with U+2581 for spaces
  bool adds_bos = false;       ///< unless the file says otherwise
};

/// Null for a name that is not known.
const PreTokenizer* find_pre_tokenizer(std::string_view name);

}  // namespace paceline::text
