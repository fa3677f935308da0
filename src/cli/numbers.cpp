#include "cli/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/utf8.h"
#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

[[noreturn]] void refuse(std::string_view where, std::string_view text,
                         const std::string& expected) {
  throw UsageError(
      fmt::format("[{}] found '{}', expected {}", where, base::repair_utf8(text), expected));
}

std::string describe(const IntegerRange& range) {
  if (range.most == std::numeric_limits<int32_t>::max()) {
    return fmt::format("a whole number of at least {}", range.least);
  }
  return fmt::format("a whole number from {} to {}", range.least, range.most);
}

std::string describe(const RealRange& range) {
  if (std::isinf(range.most)) {
    return fmt::format("a number {} {}", range.above_least ? "above" : "of at least", range.least);
  }
  return fmt::format("a number {} {} to {}", range.above_least ? "above" : "from", range.least,
                     range.most);
}

}  // namespace

int64_t parse_integer(std::string_view where, std::string_view text, const IntegerRange& range) {
  const auto value = parse_whole<int64_t>(text);
  if (!value || *value < range.least || *value > range.most) {
    refuse(where, text, describe(range));
  }
  return *value;
}

uint64_t parse_unsigned(std::string_view where, std::string_view text) {
  const auto value = parse_whole<uint64_t>(text);
  if (!value) {
    refuse(where, text, "a whole number from 0 to 18446744073709551615");
  }
  return *value;
}

float parse_real(std::string_view where, std::string_view text, const RealRange& range) {
  const auto value = parse_whole<float>(text);
  const bool inside = value && std::isfinite(*value) && *value >= range.least &&
                      *value <= range.most && !(range.above_least && *value == range.least);
  if (!inside) {
    refuse(where, text, describe(range));
  }
  return *value;
}

std::string format_real(float value) { return fmt::format("{}", value); }

double shortest(float value) {
  const std::string text = format_real(value);
  return parse_whole<double>(text).value_or(static_cast<double>(value));
}

std::string format_bytes(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1000) {
    return fmt::format("{} B", bytes);
  }
  if (value < 1e6) {
    return fmt::format("{:.1f} kB", value / 1e3);
  }
  return value < 1e9 ? fmt::format("{:.1f} MB", value / 1e6)
                     : fmt::format("{:.2f} GB", value / 1e9);
}

std::string format_count(int64_t count) {
  const auto value = static_cast<double>(count);
  if (value < 1e6) {
    return fmt::format("{}", count);
  }
  return value < 1e9 ? fmt::format("{:.1f} M", value / 1e6) : fmt::format("{:.2f} B", value / 1e9);
}

std::string format_rate(double value) { return fmt::format("{:.1f}", value); }

}  // namespace paceline::cli
