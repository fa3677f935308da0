#include "cli/commands/bench_generate.h"

#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/catalogue/helper.h"
#include "cli/numbers.h"

namespace paceline::cli {
namespace {

constexpr const char* kText =
    "The committee met on Tuesday to discuss the new bridge, which nobody had asked for and "
    "everyone now wanted. ";

/// Prose, starting elsewhere each time so that no repetition begins like another.
std::vector<TokenId> prompt_ids(const Engine& engine, int32_t count, int32_t repetition) {
  const std::vector<TokenId> words = engine.tokenize(kText, false);
  std::vector<TokenId> ids;
  for (int32_t i = 0; i < count; ++i) {
    ids.push_back(words[static_cast<std::size_t>(i + repetition) % words.size()]);
  }
  return ids;
}

Answer measure(Engine& engine, const BenchCommand& command, int32_t repetition,
               const Interrupt& interrupt) {
  Request request;
  request.prompt_ids = prompt_ids(engine, command.prompt, repetition);
  request.tokens_max = command.generate;
  request.ignore_end = true;
  request.sampling.temperature = 0;
  Answer result = answer(engine, std::move(request), interrupt, [](std::string_view) {});
  if (result.reason == FinishReason::cancelled) {
    throw ExitWith(kInterrupted);
  }
  if (result.error) {
    throw Error(*result.error);
  }
  return result;
}

}  // namespace

GenerateRates measure_generate(Engine& engine, const BenchCommand& command, const Console& console,
                               const Interrupt& interrupt, Bandwidth& bandwidth) {
  std::vector<double> prefill;
  std::vector<double> decode;
  measure(engine, command, 0, interrupt);  // warms caches and threads up
  for (int32_t i = 1; i <= command.repeat; ++i) {
    const Answer answer = measure(engine, command, i, interrupt);
    prefill.push_back(prompt_rate(answer));
    decode.push_back(decode_rate(answer));
    bandwidth.sample();
    if (console.settings().terminal.error) {
      console.notice(fmt::format("{} of {}: prefill {} tok/s, decode {} tok/s", i, command.repeat,
                                 format_rate(prefill.back()), format_rate(decode.back())));
    }
  }
  return {.prefill = spread_of(prefill), .decode = spread_of(decode)};
}

}  // namespace paceline::cli
