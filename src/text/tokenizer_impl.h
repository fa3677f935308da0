#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "text/bridge/bridge.h"
#include "text/token_table.h"
#include "text/tokenizer.h"

namespace paceline::text {

struct FreeTokenizer {
  void operator()(PlTokenizer* tokenizer) const { pl_tokenizer_free(tokenizer); }
};
using TokenizerHandle = std::unique_ptr<PlTokenizer, FreeTokenizer>;

struct Tokenizer::Impl {
  explicit Impl(DecodeKind kind) : table(kind) {}

  TokenizerHandle handle;
  TokenTable table;
  std::optional<TokenId> bos, eos;
  std::vector<TokenId> end_ids;
  bool adds_bos = false;
  bool strips_leading_space = false;
};

struct EndTokens {
  std::vector<TokenId> ids;       ///< end an answer; the stated ones in front
  std::vector<TokenId> ordinary;  ///< look like an end, but the file does not say that they are one
};

/// Finds the tokens that end an answer, by statement or by their literal; marks the latter as
/// control tokens.
EndTokens mark_end_tokens(TokenTable& table, const std::vector<std::optional<TokenId>>& stated);

}  // namespace paceline::text
