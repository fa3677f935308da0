#include "cli/commands/bench_spread.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace paceline::cli {

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {values.front(), median, values.back()};
}

nlohmann::ordered_json spread_json(const Spread& spread) {
  return {{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

}  // namespace paceline::cli
