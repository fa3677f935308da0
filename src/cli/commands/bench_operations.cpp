#include "cli/commands/bench_operations.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "cli/catalogue/helper.h"
#include "cli/commands/bench_progress.h"
#include "cli/commands/bench_spread.h"
#include "cli/machine.h"
#include "paceline/bench.h"
#include "paceline/version.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One operation against the machine's limits.
struct Line {
  const OperationTimes& operation;
  Spread ms;
  double bytes_per_second = 0;
  double operations_per_second = 0;
  double of_bandwidth = 0;  ///< fraction
  double of_peak = 0;       ///< fraction; 0 when there is nothing to compare with
};

Line line_of(const OperationTimes& operation, const ArithmeticPeaks& peaks, double bandwidth) {
  Line line{.operation = operation, .ms = spread_of(operation.ms)};
  const double seconds = line.ms.median / 1e3;
  const double peak = operation.integer ? peaks.int8 : peaks.f32;
  line.bytes_per_second = operation.bytes / seconds;
  line.operations_per_second = operation.operations / seconds;
  line.of_bandwidth = line.bytes_per_second / bandwidth;
  line.of_peak = peak > 0 ? line.operations_per_second / peak : 0;
  return line;
}

std::string report_text(const OperationReport& report, const Bandwidth& bandwidth) {
  std::string text = fmt::format(
      "machine    {}, {}, {} threads\nbandwidth  {:.1f} GB/s read, {:.1f} with one thread\n"
      "arithmetic {:.0f} GFLOP/s f32, {:.0f} GOP/s int8, in a loop over registers\n",
      cpu_name(), report.instruction_set, report.threads, bandwidth.all_threads() / 1e9,
      bandwidth.one_thread() / 1e9, report.peaks.f32 / 1e9, report.peaks.int8 / 1e9);
  text +=
      fmt::format("{:<24} {:<26} {:>4} {:>9} {:>9} {:>7} {:>8} {:>10} {:>9}\n", "operation",
                  "shape", "rows", "median us", "min us", "GB/s", "GOP/s", "bandwidth", "of peak");
  for (const OperationTimes& operation : report.operations) {
    const Line line = line_of(operation, report.peaks, bandwidth.all_threads());
    text += fmt::format(
        "{:<24} {:<26} {:>4} {:>9.1f} {:>9.1f} {:>7.1f} {:>8.1f} {:>8.0f} % {:>7.0f} %\n",
        operation.name, operation.shape, operation.rows, line.ms.median * 1e3, line.ms.min * 1e3,
        line.bytes_per_second / 1e9, line.operations_per_second / 1e9, line.of_bandwidth * 100,
        line.of_peak * 100);
  }
  return text;
}

std::string report_json(const OperationReport& report, const Bandwidth& bandwidth) {
  Json json{{"version", version()},
            {"cpu", cpu_name()},
            {"instruction_set", report.instruction_set},
            {"threads", report.threads},
            {"read_bandwidth_bytes_s", bandwidth.all_threads()},
            {"read_bandwidth_one_thread_bytes_s", bandwidth.one_thread()},
            {"peak_f32_operations_s", report.peaks.f32},
            {"peak_int8_operations_s", report.peaks.int8},
            {"operations", Json::array()}};
  for (const OperationTimes& operation : report.operations) {
    const Line line = line_of(operation, report.peaks, bandwidth.all_threads());
    json["operations"].push_back({{"name", operation.name},
                                  {"shape", operation.shape},
                                  {"rows", operation.rows},
                                  {"integer", operation.integer},
                                  {"bytes", operation.bytes},
                                  {"operations", operation.operations},
                                  {"runs", operation.ms.size()},
                                  {"ms", spread_json(line.ms)},
                                  {"bytes_s", line.bytes_per_second},
                                  {"operations_s", line.operations_per_second},
                                  {"bandwidth_fraction", line.of_bandwidth},
                                  {"peak_fraction", line.of_peak}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int bench_operations(const BenchCommand& command, const Console& console) {
  const Interrupt interrupt(Interrupt::Second::ends_process);
  const auto cores = static_cast<int32_t>(std::thread::hardware_concurrency());
  Bandwidth bandwidth(command.load.threads > 0 ? command.load.threads : cores);
  OperationReport report;
  try {
    RoundProgress progress({console, interrupt, bandwidth}, "preparing", command.repeat);
    report = measure_operations({.threads = command.load.threads,
                                 .isa = command.load.isa,
                                 .numerics = command.load.exact ? Numerics::exact : Numerics::fast,
                                 .rounds = command.repeat,
                                 .on_progress = progress.callback()});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) {
      throw ExitWith(kInterrupted);
    }
    throw;
  }
  console.print(command.json ? report_json(report, bandwidth) : report_text(report, bandwidth));
  return 0;
}

}  // namespace paceline::cli
