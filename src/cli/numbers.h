#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace paceline::cli {

/// Numbers of the command line, whatever the locale. Each throws UsageError{"[where] found 'x',
/// expected ..."}.
struct IntegerRange {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int32_t>::max();
};
int64_t parse_integer(std::string_view where, std::string_view text, const IntegerRange& range);
uint64_t parse_unsigned(std::string_view where, std::string_view text);

struct RealRange {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  ///< least itself is out of range
};
float parse_real(std::string_view where, std::string_view text, const RealRange& range);

/// The shortest decimal that reads back as the same float, as a double.
double shortest(float value);
std::string format_real(float value);

/// "98.4 MB" (powers of ten).
std::string format_bytes(int64_t bytes);
/// "135 M", "1.54 B".
std::string format_count(int64_t count);
/// One digit after the point.
std::string format_rate(double value);

}  // namespace paceline::cli
