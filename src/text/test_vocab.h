#pragma once

#include <string>
#include <vector>

#include "text/vocab.h"

namespace paceline::text {

/// A vocabulary of a few tokens that owns its texts.
struct TestVocab {
  GgufVocab vocab;
  std::vector<std::string> tokens, merges;

  void add(const std::string& literal, int64_t type = 1, double score = 0) {
    tokens.push_back(literal);
    vocab.types.push_back(type);
    vocab.scores.push_back(score);
  }

  const GgufVocab& view() {
    vocab.tokens.assign(tokens.begin(), tokens.end());
    vocab.merges.assign(merges.begin(), merges.end());
    return vocab;
  }
};

/// Byte-level: 256 bytes (id = byte), then "he" 256, "ll" 257, "hell" 258, "hello" 259, "Ġhello"
/// 260,
/// <|im_start|> 261, <|im_end|> 262 (eos), <tool_call> 263 (user-defined), [PAD264] unused.
TestVocab byte_level_vocab();

/// SentencePiece: <unk> 0, <s> 1, </s> 2, bytes 3..258, then "▁" 259, "a" 260, "b" 261, "▁a" 262,
/// "ab" 263, "▁ab" 264, <tag> 265 (user-defined).
TestVocab sentencepiece_vocab();

}  // namespace paceline::text
