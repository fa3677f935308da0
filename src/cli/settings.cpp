#include "cli/settings.h"

#include <charconv>
#include <utility>

#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

// The XDG base directory specification tells to ignore relative paths.
std::filesystem::path default_cache_root(const Environment& environment) {
  const std::filesystem::path xdg = environment.xdg_cache_home;
  if (xdg.is_absolute()) {
    return xdg / "paceline";
  }
  const std::filesystem::path home = environment.home;
  return home.is_absolute() ? home / ".cache" / "paceline" : std::filesystem::path();
}

int parse_columns(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value > 0 && value <= 10000 ? value : 0;
}

}  // namespace

Settings make_settings(const Environment& environment, const Streams& streams,
                       std::filesystem::path executable) {
  const bool capable = !environment.term.empty() && environment.term != "dumb";
  const bool colours = capable && environment.no_color.empty();
  Settings settings;
  settings.cache_root = default_cache_root(environment);
  settings.executable = std::move(executable);
  settings.terminal = streams;
  settings.colour_output = colours && streams.output;
  settings.colour_error = colours && streams.error;
  settings.live_error = capable && streams.error;
  settings.line_editing = capable && streams.input && (streams.output || streams.error);
  settings.columns = parse_columns(environment.columns);
  return settings;
}

std::filesystem::path cache_root(const Settings& settings, const std::string& option) {
  if (!option.empty()) {
    return option;
  }
  if (settings.cache_root.empty()) {
    throw UsageError(
        "[--cache-dir] found neither HOME nor XDG_CACHE_HOME, expected one of them or --cache-dir "
        "DIR");
  }
  return settings.cache_root;
}

}  // namespace paceline::cli
