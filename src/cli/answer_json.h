#pragma once

#include <functional>
#include <string>

#include "cli/answer.h"

namespace paceline::cli {

struct AnswerContext {
  bool with_logprobs = false;
  double load_ms = 0;
  std::function<std::string(TokenId)> token_text;
};

/// {text, ids, finish_reason, logprobs, prompt_tokens, completion_tokens, seed, timings} and a
/// newline; logprobs only when asked for. docs/settings.md describes the fields.
std::string answer_json(const Answer& answer, const AnswerContext& context);

}  // namespace paceline::cli
