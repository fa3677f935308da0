#include "paceline/version.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"

namespace paceline::cli {

int show_version(const VersionCommand& command, const Console& console) {
  if (command.json) {
    const nlohmann::ordered_json json{
        {"version", version()}, {"mlx", mlx_version()}, {"instruction_sets", instruction_sets()}};
    console.print(json.dump(2) + "\n");
    return 0;
  }
  console.print(fmt::format("paceline {}\nMLX {}\ninstruction sets {}\n", version(), mlx_version(),
                            fmt::join(instruction_sets(), ", ")));
  return 0;
}

}  // namespace paceline::cli
