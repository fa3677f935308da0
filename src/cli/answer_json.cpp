#include "cli/answer_json.h"

#include <nlohmann/json.hpp>

#include "cli/numbers.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

Json logprob_json(TokenId id, float logprob, const AnswerContext& context) {
  return {{"id", id}, {"text", context.token_text(id)}, {"logprob", shortest(logprob)}};
}

Json logprobs_json(const Answer& answer, const AnswerContext& context) {
  Json all = Json::array();
  for (const Token& token : answer.tokens) {
    Json entry = logprob_json(token.id, token.logprob, context);
    entry["top"] = Json::array();
    for (const TokenLogprob& other : token.top) {
      entry["top"].push_back(logprob_json(other.id, other.logprob, context));
    }
    all.push_back(std::move(entry));
  }
  return all;
}

Json timings_json(const Answer& answer, const AnswerContext& context) {
  return {{"load_ms", context.load_ms},
          {"queued_ms", answer.timings.queued_ms},
          {"prompt_ms", answer.timings.prompt_ms},
          {"decode_ms", answer.timings.decode_ms},
          {"prompt_tok_s", prompt_rate(answer)},
          {"decode_tok_s", decode_rate(answer)}};
}

}  // namespace

std::string answer_json(const Answer& answer, const AnswerContext& context) {
  Json json;
  json["text"] = answer.text;
  json["ids"] = Json::array();
  for (const Token& token : answer.tokens) {
    json["ids"].push_back(token.id);
  }
  json["finish_reason"] = name(answer.reason);
  if (context.with_logprobs) {
    json["logprobs"] = logprobs_json(answer, context);
  }
  json["prompt_tokens"] = answer.usage.prompt_tokens;
  json["completion_tokens"] = answer.usage.completion_tokens;
  json["seed"] = answer.usage.seed;
  json["timings"] = timings_json(answer, context);
  // Text of single tokens may hold half a code point.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace paceline::cli
