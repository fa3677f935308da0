#pragma once

#include <filesystem>
#include <string>

namespace paceline::cli {

/// The environment as main found it. Nothing else reads it.
struct Environment {
  std::string home{};
  std::string xdg_cache_home{};
  std::string no_color{};
  std::string term{};
  std::string columns{};
};

/// Which standard streams are terminals.
struct Streams {
  bool input = false;
  bool output = false;
  bool error = false;
};

/// Immutable from main on.
struct Settings {
  std::filesystem::path cache_root;  ///< empty when neither variable says where
  std::filesystem::path executable;  ///< for finding scripts/ or share/paceline
  Streams terminal;
  bool colour_output = false;
  bool colour_error = false;
  bool live_error = false;    ///< standard error is a terminal where a line can be redrawn
  bool line_editing = false;  ///< input is a terminal that understands cursor movement
  int columns = 0;            ///< $COLUMNS; 0 = ask the terminal
};

Settings make_settings(const Environment& environment, const Streams& streams,
                       std::filesystem::path executable);

/// `--cache-dir`, else $XDG_CACHE_HOME/paceline, else ~/.cache/paceline. Throws UsageError when
/// nothing says where.
std::filesystem::path cache_root(const Settings& settings, const std::string& option);

}  // namespace paceline::cli
