#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "cli/commands/commands.h"
#include "cli/input.h"
#include "cli/load.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// One token per line: id and quoted text.
std::string lines_of(const std::vector<TokenId>& ids, const Engine& engine) {
  std::string text;
  for (const TokenId id : ids) {
    text += fmt::format("{:>7}  {}\n", id, dump(engine.token_text(id), -1));
  }
  return text;
}

std::string json_of(const std::vector<TokenId>& ids, const Engine& engine) {
  Json tokens = Json::array();
  for (const TokenId id : ids) {
    tokens.push_back(engine.token_text(id));
  }
  return dump({{"count", ids.size()}, {"ids", ids}, {"tokens", tokens}}, 2) + "\n";
}

}  // namespace

int tokenize(const TokenizeCommand& command, const Console& console) {
  const std::string given =
      command.text == "-"
          ? read_all(STDIN_FILENO, [&] { console.notice("Reading standard input ..."); })
          : command.text;
  bool changed = false;
  const std::string text = base::repair_utf8(given, &changed);
  if (changed) {
    console.notice("The input held invalid UTF-8; it was replaced by U+FFFD.");
  }
  const std::unique_ptr<Engine> engine = load_engine(command.model, {.pre = command.pre}, console);
  const std::vector<TokenId> ids = engine->tokenize(text, command.parse_special);
  if (command.ids_only) {
    console.print(fmt::format("{}\n", fmt::join(ids, " ")));
  } else {
    console.answer(command.json ? json_of(ids, *engine) : lines_of(ids, *engine));
  }
  return 0;
}

}  // namespace paceline::cli
