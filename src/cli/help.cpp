#include "cli/help.h"

#include "cli/catalogue/catalogue.h"

namespace paceline::cli {

std::string examples_of(std::string_view command) {
  const std::string model = starter_model().name;
  if (command.empty()) {
    return "Examples:\n  paceline run                       chat with " + model +
           "\n  paceline run MODEL \"a question\"    one answer"
           "\n  paceline list                      models by name"
           "\n  paceline COMMAND --help            the options of a command\n";
  }
  if (command == "run") {
    return "Examples:\n  paceline run\n  paceline run " + model +
           " \"Why is the sky blue?\" --temperature 0\n  paceline run ./model.gguf \"Summarise:\" "
           "< notes.txt\n";
  }
  if (command == "pull") {
    return "Example:\n  paceline pull " + model + "\n";
  }
  if (command == "rm") {
    return "Example:\n  paceline rm " + model + "\n";
  }
  if (command == "inspect") {
    return "Example:\n  paceline inspect ./model.gguf --json\n";
  }
  if (command == "tokenize") {
    return "Examples:\n  paceline tokenize \"some text\"\n  paceline tokenize " + model +
           " - --ids < notes.txt\n";
  }
  if (command == "bench") {
    return "Example:\n  paceline bench " + model +
           " --prompt 512 --generate 128 --repeat 5 --json\n";
  }
  return {};
}

std::string chat_help() {
  return "  /system TEXT      set the system message (none: remove it) and start over\n"
         "  /set NAME VALUE   change a setting (VALUE 'default' resets it)\n"
         "  /show             the settings and the system message\n"
         "  /clear            forget the conversation\n"
         "  /exit             leave (also Ctrl-D)\n"
         "  Several lines: start and end with \"\"\", or end a line with a backslash.\n"
         "  Ctrl-C stops an answer.\n";
}

}  // namespace paceline::cli
