#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace paceline::cli {

struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;
};

/// `values` is not empty.
Spread spread_of(std::vector<double> values);
nlohmann::ordered_json spread_json(const Spread& spread);

}  // namespace paceline::cli
