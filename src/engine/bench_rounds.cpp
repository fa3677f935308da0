#include "engine/bench_rounds.h"

#include <chrono>

namespace paceline::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kVisitMs = 40;

double run_once(const Timed& item) {
  const Clock::time_point start = Clock::now();
  item.run();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void visit(const Timed& item, std::vector<double>& ms) {
  // The caches still hold what another item left behind.
  const double first = run_once(item);
  if (first >= kVisitMs) {
    ms.push_back(first / item.calls);
    return;
  }
  for (double passed = 0; passed < kVisitMs;) {
    const double run = run_once(item);
    ms.push_back(run / item.calls);
    passed += run;
  }
}

double fraction(std::size_t done, std::size_t all) {
  return static_cast<double>(done) / static_cast<double>(all);
}

}  // namespace

void tell(const BenchCallback& on_progress, const BenchProgress& progress) {
  if (!on_progress || on_progress(progress)) return;
  throw Error(ErrorCode::cancelled, "[bench] cancelled by the caller");
}

std::vector<std::vector<double>> run_rounds(const std::vector<Timed>& items, int32_t rounds,
                                            const BenchCallback& on_progress) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].run();
    tell(on_progress, {.round = 0, .fraction = fraction(i + 1, items.size())});
  }
  std::vector<std::vector<double>> ms(items.size());
  for (int32_t round = 1; round <= rounds; ++round) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      visit(items[i], ms[i]);
      tell(on_progress, {.round = round, .fraction = fraction(i + 1, items.size())});
    }
  }
  return ms;
}

}  // namespace paceline::engine
