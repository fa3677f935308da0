#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "cli/catalogue/helper.h"
#include "cli/commands/commands.h"
#include "cli/usage_error.h"
#include "paceline/error.h"

namespace {

using namespace paceline;
using namespace paceline::cli;

constexpr int kFailure = 1;
constexpr int kUsage = 2;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Settings read_settings() {
  const Environment environment{.home = variable("HOME"),
                                .xdg_cache_home = variable("XDG_CACHE_HOME"),
                                .no_color = variable("NO_COLOR"),
                                .term = variable("TERM"),
                                .columns = variable("COLUMNS")};
  const Streams streams{.input = isatty(STDIN_FILENO) == 1,
                        .output = isatty(STDOUT_FILENO) == 1,
                        .error = isatty(STDERR_FILENO) == 1};
  std::error_code ignored;
  return make_settings(environment, streams,
                       std::filesystem::read_symlink("/proc/self/exe", ignored));
}

struct Dispatch {
  const Console& console;

  int operator()(const RunCommand& command) const { return run(command, console); }
  int operator()(const PullCommand& command) const { return pull(command, console); }
  int operator()(const ListCommand& command) const { return list(command, console); }
  int operator()(const RemoveCommand& command) const { return cli::remove(command, console); }
  int operator()(const InspectCommand& command) const { return inspect_model(command, console); }
  int operator()(const TokenizeCommand& command) const { return tokenize(command, console); }
  int operator()(const BenchCommand& command) const { return bench(command, console); }
  int operator()(const VersionCommand& command) const { return show_version(command, console); }
  int operator()(const HelpCommand& command) const {
    console.print(command.text);
    return 0;
  }
};

/// What to do next, for the kinds of failure where that is the same everywhere.
std::string advice(const Error& error, bool inspecting) {
  switch (error.code()) {
    case ErrorCode::context_overflow:
      return "; shorten the prompt or raise --ctx";
    case ErrorCode::bad_checkpoint:
    case ErrorCode::unsupported:
      return inspecting ? "" : "; 'paceline inspect MODEL' shows what is in it";
    case ErrorCode::internal:
      return "; this is a bug in Paceline, please report it";
    default:
      return {};
  }
}

int guarded(const std::vector<std::string>& words, const Console& console) {
  try {
    return std::visit(Dispatch{console}, parse_command(words));
  } catch (const ExitWith& exit) {
    return exit.code();
  } catch (const UsageError& error) {
    console.error(error.what());
    return kUsage;
  } catch (const Error& error) {
    const bool inspecting = !words.empty() && words.front() == "inspect";
    console.error(error.what() + advice(error, inspecting));
  } catch (const std::bad_alloc&) {
    console.error("[memory] found too little, expected more; try a smaller model or --ctx");
  } catch (const std::exception& error) {
    console.error("[internal] " + std::string(error.what()) +
                  "; this is a bug in Paceline, please report it");
  }
  return kFailure;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings();
  const Console console(settings);
  return guarded({argv + (argc > 0 ? 1 : 0), argv + argc}, console);
}
