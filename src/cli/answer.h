#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interrupt.h"
#include "paceline/engine.h"

namespace paceline::cli {

struct Answer {
  std::string text;
  std::vector<Token> tokens;
  FinishReason reason = FinishReason::stop;
  std::optional<Error> error;  ///< reason error
  Usage usage;
  Timings timings;
};

/// Runs one request to its end on the calling thread; `on_text` gets the text as it comes. Ctrl-C
/// cancels the request: the answer then has reason cancelled. Throws what Engine::submit() and
/// `on_text` throw.
Answer answer(Engine& engine, Request request, const Interrupt& interrupt,
              const std::function<void(std::string_view)>& on_text);

/// Tokens per second of the prompt and of the answer; 0 when there was nothing to measure.
double prompt_rate(const Answer& answer);
double decode_rate(const Answer& answer);

}  // namespace paceline::cli
