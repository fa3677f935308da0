#include <algorithm>
#include <array>
#include <string_view>

#include "text/tokenizer_impl.h"

namespace paceline::text {
namespace {

// Source: llama.cpp 0c1e57098, src/llama-vocab.cpp, end-of-generation tokens without those of code
// infilling.
constexpr std::array<std::string_view, 22> kEndLiterals = {"<|eot_id|>",
                                                           "<|im_end|>",
                                                           "<|end|>",
                                                           "<|return|>",
                                                           "<|call|>",
                                                           "<|flush|>",
                                                           "<|calls|>",
                                                           "<end_of_turn>",
                                                           "</s>",
                                                           "<|endoftext|>",
                                                           "<|eom_id|>",
                                                           "<EOT>",
                                                           "_<EOT>",
                                                           "[EOT]",
                                                           "[EOS]",
                                                           "<|end_of_text|>",
                                                           "<eos>",
                                                           "<turn|>",
                                                           "<|tool_response>",
                                                           "<end_of_utterance>",
                                                           "[e~[",
                                                           "<｜end▁of▁sentence｜>"};

struct Found {
  std::string_view literal;
  TokenId id;
};

std::vector<Found> find_literals(const TokenTable& table) {
  std::vector<Found> found;
  for (TokenId id = 0; id < table.size(); ++id) {
    const auto literal = table.literal(id);
    if (literal.size() < 4) continue;
    const auto* known = std::find(kEndLiterals.begin(), kEndLiterals.end(), literal);
    if (known != kEndLiterals.end()) found.push_back({*known, id});
  }
  return found;
}

/// Some vocabularies hold a look-alike that does not end a turn.
void drop_look_alikes(std::vector<Found>& found) {
  const auto has = [&](std::string_view literal) {
    return std::any_of(found.begin(), found.end(),
                       [&](const Found& f) { return f.literal == literal; });
  };
  const bool harmony =
      (has("<|return|>") && has("<|call|>")) || (has("<|calls|>") && has("<|flush|>"));
  const bool gemma4 = has("<|tool_response>");
  std::erase_if(found, [&](const Found& f) {
    return (harmony && f.literal == "<|end|>") || (gemma4 && f.literal == "</s>");
  });
}

}  // namespace

std::vector<TokenId> mark_end_tokens(TokenTable& table,
                                     const std::vector<std::optional<TokenId>>& stated) {
  std::vector<TokenId> ids;
  const auto add = [&](TokenId id) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  };
  for (const auto& id : stated) {
    if (id) add(*id);
  }
  auto found = find_literals(table);
  drop_look_alikes(found);
  for (const auto& [literal, id] : found) {
    table.set_type(id, TokenType::control);
    add(id);
  }
  return ids;
}

}  // namespace paceline::text
