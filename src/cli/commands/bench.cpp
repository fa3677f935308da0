#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "cli/catalogue/helper.h"
#include "cli/commands/bench_generate.h"
#include "cli/commands/bench_operations.h"
#include "cli/commands/bench_steps.h"
#include "cli/commands/commands.h"
#include "cli/load.h"
#include "cli/machine.h"
#include "cli/numbers.h"
#include "paceline/version.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Result {
  std::optional<GenerateRates> generate;
  std::vector<StepLine> steps;
  double bandwidth = 0;  ///< bytes per second
  double bandwidth_one_thread = 0;
  double bandwidth_reached = 0;  ///< fraction, of weights that decoding reads
};

std::vector<StepLine> measure_step_lines(Engine& engine, const BenchCommand& command,
                                         const RoundProgress::Parts& parts) {
  StepPlan plan = step_plan(command, engine.info().context);
  RoundProgress progress(parts, "preparing", plan.rounds);
  plan.on_progress = progress.callback();
  try {
    return step_lines(measure_steps(engine, plan), engine.info().step_bytes);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) {
      throw ExitWith(kInterrupted);
    }
    throw;
  }
}

Result measure_all(Engine& engine, const BenchCommand& command, const Console& console) {
  using Measure = BenchCommand::Measure;
  const Interrupt interrupt(Interrupt::Second::ends_process);
  Bandwidth bandwidth(engine.info().threads);
  Result result;
  if (command.measure != Measure::steps) {
    result.generate = measure_generate(engine, command, console, interrupt, bandwidth);
  }
  if (command.measure != Measure::answer) {
    result.steps = measure_step_lines(engine, command, {console, interrupt, bandwidth});
  }
  result.bandwidth = bandwidth.all_threads();
  result.bandwidth_one_thread = bandwidth.one_thread();
  const double decode =
      result.generate ? result.generate->decode.median : 1e3 / result.steps.front().ms.median;
  result.bandwidth_reached =
      static_cast<double>(engine.info().step_bytes) * decode / result.bandwidth;
  return result;
}

std::string result_json(const Result& result, const BenchCommand& command, const ModelInfo& info) {
  Json json{{"model", info.name},
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
            {"step_bytes", info.step_bytes},
            {"read_bandwidth_bytes_s", result.bandwidth},
            {"read_bandwidth_one_thread_bytes_s", result.bandwidth_one_thread},
            {"bandwidth_fraction", result.bandwidth_reached}};
  if (result.generate) {
    json["prefill_tok_s"] = spread_json(result.generate->prefill);
    json["decode_tok_s"] = spread_json(result.generate->decode);
  }
  if (!result.steps.empty()) {
    json["steps"] = steps_json(result.steps);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string generate_text(const GenerateRates& rates, const BenchCommand& command) {
  const auto spread = [](const Spread& s) {
    return fmt::format("{:.1f} tok/s ({:.1f} to {:.1f})", s.median, s.min, s.max);
  };
  return fmt::format("prefill    {} over {} tokens\ndecode     {} over {} tokens\n",
                     spread(rates.prefill), command.prompt, spread(rates.decode), command.generate);
}

std::string result_text(const Result& result, const BenchCommand& command, const ModelInfo& info) {
  std::string text = fmt::format(
      "model      {} ({}, {} in memory, {} read per step)\nmachine    {}, {}, {} threads, {}\n",
      info.name, info.architecture, format_bytes(info.resident_bytes),
      format_bytes(info.step_bytes), cpu_name(), info.instruction_set, info.threads, info.numerics);
  if (result.generate) {
    text += generate_text(*result.generate, command);
  }
  text += fmt::format(
      "bandwidth  {:.1f} GB/s read, {:.1f} with one thread, {:.0f} % reached in decode\n",
      result.bandwidth / 1e9, result.bandwidth_one_thread / 1e9, result.bandwidth_reached * 100);
  return result.steps.empty() ? text : text + steps_text(result.steps);
}

}  // namespace

int bench(const BenchCommand& command, const Console& console) {
  if (command.operations) {
    return bench_operations(command, console);
  }
  const std::unique_ptr<Engine> engine = load_engine(command.model, command.load, console);
  const Result result = measure_all(*engine, command, console);
  console.print(command.json ? result_json(result, command, engine->info())
                             : result_text(result, command, engine->info()));
  return 0;
}

}  // namespace paceline::cli
