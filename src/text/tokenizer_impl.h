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

/// Marks the tokens whose literals are known to end a turn as control tokens and lists them, with
/// `stated` in front.
std::vector<TokenId> mark_end_tokens(TokenTable& table,
                                     const std::vector<std::optional<TokenId>>& stated);

}  // namespace paceline::text
