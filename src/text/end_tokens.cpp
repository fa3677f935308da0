#include <algorithm>
#include <array>
#include <string_view>

#include "text/tokenizer_impl.h"

namespace paceline::text {
namespace {

/// When a token that is known only by its text ends an answer.
enum class Ends {
  always,    ///< the text cannot be markup or prose
  declared,  ///< HTML, XML or prose may hold it: the file must call it control, eos, eot or eom
};

struct EndLiteral {
  std::string_view literal;
  Ends ends;
};

// Source: llama.cpp 0c1e57098, src/llama-vocab.cpp, end-of-generation tokens without those of code
// infilling.
constexpr std::array<EndLiteral, 22> kEndLiterals = {{
    {"<|eot_id|>", Ends::always},
    {"<|im_end|>", Ends::always},
    {"<|end|>", Ends::always},
    {"<|return|>", Ends::always},
    {"<|call|>", Ends::always},
    {"<|flush|>", Ends::always},
    {"<|calls|>", Ends::always},
    {"<|endoftext|>", Ends::always},
    {"<|eom_id|>", Ends::always},
    {"<|end_of_text|>", Ends::always},
    {"<|tool_response>", Ends::always},
    {"<turn|>", Ends::always},
    {"<end_of_turn>", Ends::always},       // no tag of HTML or a known XML vocabulary
    {"<end_of_utterance>", Ends::always},  // the same
    {"<｜end▁of▁sentence｜>", Ends::always},
    {"[e~[", Ends::always},
    {"</s>", Ends::declared},  // strikethrough in HTML
    {"<eos>", Ends::declared},
    {"<EOT>", Ends::declared},
    {"_<EOT>", Ends::declared},
    {"[EOT]", Ends::declared},
    {"[EOS]", Ends::declared},
}};

struct Found {
  std::string_view literal;
  Ends ends;
  TokenId id;
};

std::vector<Found> find_literals(const TokenTable& table) {
  std::vector<Found> found;
  for (TokenId id = 0; id < table.size(); ++id) {
    const auto literal = table.literal(id);
    if (literal.size() < 4) continue;
    const auto* known = std::find_if(kEndLiterals.begin(), kEndLiterals.end(),
                                     [&](const EndLiteral& e) { return e.literal == literal; });
    if (known != kEndLiterals.end()) found.push_back({known->literal, known->ends, id});
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

EndTokens mark_end_tokens(TokenTable& table, const std::vector<std::optional<TokenId>>& stated) {
  EndTokens result;
  const auto ends = [&](TokenId id) {
    return std::find(result.ids.begin(), result.ids.end(), id) != result.ids.end();
  };
  for (const auto& id : stated) {
    if (id && !ends(*id)) result.ids.push_back(*id);
  }
  auto found = find_literals(table);
  drop_look_alikes(found);
  for (const auto& [literal, when, id] : found) {
    if (when == Ends::declared && !ends(id) && table.type(id) != TokenType::control) {
      result.ordinary.push_back(id);
      continue;
    }
    table.set_type(id, TokenType::control);
    if (!ends(id)) result.ids.push_back(id);
  }
  return result;
}

}  // namespace paceline::text
