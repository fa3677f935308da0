#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/checkpoint.h"
#include "paceline/engine.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace paceline::engine {

/// The text side of a loaded model. Immutable, any thread.
struct TextModel {
  std::shared_ptr<const text::Tokenizer>
      tokenizer;  // shared with the detokenisers of running requests
  std::shared_ptr<const text::ChatTemplate> chat_template;  ///< null: none
  std::vector<TokenId> end_ids;                             ///< ascending
  SamplingOptions defaults;
};

/// Builds tokenizer and template. Throws what text and formats throw.
TextModel build_text_model(const formats::Checkpoint& checkpoint, const LoadOptions& options);

/// The checkpoint's tokenizer; `pre_override` as in LoadOptions. Throws what text and formats
/// throw.
std::shared_ptr<const text::Tokenizer> build_tokenizer(const formats::Checkpoint& checkpoint,
                                                       const std::string& pre_override);

// Engine's and Tokenizer's methods of the same names.
std::vector<TokenId> tokenize(const text::Tokenizer& tokenizer, std::string_view text,
                              bool parse_special);
std::string detokenize(const text::Tokenizer& tokenizer, std::span<const TokenId> ids);

/// A request's prompt as ids.
struct Prompt {
  std::vector<TokenId> ids;
  bool repaired = false;  ///< invalid UTF-8 was replaced
};

/// Renders and tokenises. Throws Error{invalid_argument} for an empty prompt, several kinds of
/// prompt, unknown ids or U+FDD0 in user text, Error{template_error} from the template or when
/// there is none.
Prompt make_prompt(const TextModel& model, const Request& request);

/// The rendered text of messages; control-token literals of their text hold U+FDD0.
std::string render(const TextModel& model, std::span<const Message> messages,
                   std::string_view variables_json, bool& repaired);
/// Without the U+FDD0 that guard() put in.
std::string without_guards(std::string_view rendered);

}  // namespace paceline::engine
