#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/answer.h"
#include "cli/catalogue/helper.h"
#include "cli/commands/commands.h"
#include "cli/load.h"
#include "cli/machine.h"
#include "cli/numbers.h"
#include "paceline/version.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBandwidthBytes = 512 << 20;  // beyond every cache
constexpr const char* kText =
    "The committee met on Tuesday to discuss the new bridge, which nobody had asked for and "
    "everyone now wanted. ";

struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;
};

struct Result {
  Spread prefill;
  Spread decode;
  double bandwidth = 0;          ///< bytes per second
  double bandwidth_reached = 0;  ///< fraction
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {values.front(), median, values.back()};
}

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

Result measure_all(Engine& engine, const BenchCommand& command, const Console& console) {
  const Interrupt interrupt(Interrupt::Second::ends_process);
  std::vector<double> prefill;
  std::vector<double> decode;
  measure(engine, command, 0, interrupt);  // warms caches and threads up
  for (int32_t i = 1; i <= command.repeat; ++i) {
    const Answer answer = measure(engine, command, i, interrupt);
    prefill.push_back(prompt_rate(answer));
    decode.push_back(decode_rate(answer));
    if (console.settings().terminal.error) {
      console.notice(fmt::format("{} of {}: prefill {} tok/s, decode {} tok/s", i, command.repeat,
                                 format_rate(prefill.back()), format_rate(decode.back())));
    }
  }
  Result result{.prefill = spread_of(prefill), .decode = spread_of(decode)};
  result.bandwidth = read_bandwidth(kBandwidthBytes, engine.info().threads);
  result.bandwidth_reached =
      static_cast<double>(engine.info().resident_bytes) * result.decode.median / result.bandwidth;
  return result;
}

Json spread_json(const Spread& spread) {
  return {{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

std::string result_json(const Result& result, const BenchCommand& command, const ModelInfo& info) {
  const Json json{{"model", info.name},
                  {"architecture", info.architecture},
                  {"version", version()},
                  {"mlx", mlx_version()},
                  {"cpu", cpu_name()},
                  {"instruction_set", info.instruction_set},
                  {"threads", info.threads},
                  {"numerics", info.numerics},
                  {"prompt_tokens", command.prompt},
                  {"generated_tokens", command.generate},
                  {"repeat", command.repeat},
                  {"load_ms", info.load_ms},
                  {"resident_bytes", info.resident_bytes},
                  {"prefill_tok_s", spread_json(result.prefill)},
                  {"decode_tok_s", spread_json(result.decode)},
                  {"read_bandwidth_bytes_s", result.bandwidth},
                  {"bandwidth_fraction", result.bandwidth_reached}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string result_text(const Result& result, const BenchCommand& command, const ModelInfo& info) {
  const auto rates = [](const Spread& s) {
    return fmt::format("{:.1f} tok/s ({:.1f} to {:.1f})", s.median, s.min, s.max);
  };
  return fmt::format(
      "model      {} ({}, {} in memory)\nmachine    {}, {}, {} threads\nprefill    {} over {} "
      "tokens\ndecode     {} over "
      "{} tokens\nbandwidth  {:.1f} GB/s read, {:.0f} % reached in decode\n",
      info.name, info.architecture, format_bytes(info.resident_bytes), cpu_name(),
      info.instruction_set, info.threads, rates(result.prefill), command.prompt,
      rates(result.decode), command.generate, result.bandwidth / 1e9,
      result.bandwidth_reached * 100);
}

}  // namespace

int bench(const BenchCommand& command, const Console& console) {
  const std::unique_ptr<Engine> engine = load_engine(command.model, command.load, console);
  const Result result = measure_all(*engine, command, console);
  console.print(command.json ? result_json(result, command, engine->info())
                             : result_text(result, command, engine->info()));
  return 0;
}

}  // namespace paceline::cli
