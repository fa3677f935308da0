#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "paceline/error.h"
#include "paceline/sampling.h"

namespace paceline {

/// One turn of a chat.
struct Message {
  std::string role;     ///< "system", "user", "assistant" or what the model's template knows
  std::string content;  ///< UTF-8; its control-token literals stay plain text
};

/// What to generate. Give either `messages` (rendered with the model's chat template), `prompt` or
/// `prompt_ids`.
struct Request {
  std::vector<Message> messages;
  std::string
      prompt;  ///< raw text; control-token literals become control tokens; BOS as the model wants
  std::vector<TokenId> prompt_ids;      ///< taken as they are
  std::string template_variables_json;  ///< object of further template variables, e.g.
                                        ///< {"enable_thinking": false}

  SamplingOptions sampling;
  int32_t tokens_max = 0;  ///< 0 = up to the end of the context
  std::vector<std::string>
      stop;  ///< at most 16 strings of at most 256 bytes; the text ends before the match
  bool ignore_end = false;  ///< end-of-text tokens do not end the answer
  int32_t logprobs =
      -1;  ///< -1 = none; N >= 0: the chosen token's and the N best alternatives' (N <= 20)
};

enum class FinishReason { stop, length, cancelled, error };
PACELINE_EXPORT const char* name(FinishReason reason);

/// ln-probabilities of the raw logits, before bias, penalties and temperature.
struct TokenLogprob {
  TokenId id = 0;
  float logprob = 0;
};

struct Token {
  TokenId id = 0;
  float logprob = 0;              ///< set when logprobs were asked for
  std::vector<TokenLogprob> top;  ///< descending probability, ties by ascending id
};

struct Timings {
  double queued_ms = 0;
  double prompt_ms = 0;  ///< evaluation of the prompt
  double decode_ms = 0;  ///< from the first token to the last
};

struct Usage {
  int32_t prompt_tokens = 0;
  int32_t completion_tokens = 0;  ///< the end-of-text token is not counted
  uint64_t seed = 0;              ///< the one given or drawn
  bool prompt_repaired = false;   ///< invalid UTF-8 was replaced by U+FFFD
};

/// One thing that happened to a request, in order. `finished` is the last.
struct Event {
  enum class Kind { started, token, finished };
  Kind kind = Kind::token;
  Token token;       ///< kind token
  std::string text;  ///< kinds token and finished: text that became final (may be empty)
  FinishReason reason = FinishReason::stop;  ///< kind finished
  std::optional<Error> error;                ///< kind finished with reason error
  Usage usage;                               ///< kinds started (prompt_tokens, seed) and finished
  Timings timings;                           ///< kind finished
};

/// Called on the engine's thread for each event; must return soon and not call back into the
/// engine.
using EventCallback = std::function<void(const Event&)>;

}  // namespace paceline
