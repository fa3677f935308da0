#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "cli/catalogue/model_path.h"
#include "cli/commands/commands.h"
#include "cli/input.h"
#include "cli/usage_error.h"
#include "paceline/tokenizer.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// One token per line: id and quoted text.
std::string lines_of(const std::vector<TokenId>& ids, const Tokenizer& tokenizer) {
  std::string text;
  for (const TokenId id : ids) {
    text += fmt::format("{:>7}  {}\n", id, dump(tokenizer.token_text(id), -1));
  }
  return text;
}

std::string json_of(const std::vector<TokenId>& ids, const Tokenizer& tokenizer) {
  Json tokens = Json::array();
  for (const TokenId id : ids) {
    tokens.push_back(tokenizer.token_text(id));
  }
  return dump({{"count", ids.size()}, {"ids", ids}, {"tokens", tokens}}, 2) + "\n";
}

/// One word alone is the text, but hardly when it is a model.
void refuse_model_alone(const TokenizeCommand& command) {
  const std::string& text = command.text;
  if (!command.model.model.empty() ||
      !(find_model(text) != nullptr || (has_model_suffix(text) && is_model(text)))) {
    return;
  }
  throw UsageError(
      fmt::format("[tokenize] found only the model '{0}', expected 'paceline tokenize {0} "
                  "TEXT' (to tokenize the name: paceline tokenize {1} '{0}')",
                  text, starter_model().name));
}

}  // namespace

int tokenize(const TokenizeCommand& command, const Console& console) {
  refuse_model_alone(command);
  const std::string given =
      command.text == "-"
          ? read_all(STDIN_FILENO, [&] { console.notice("Reading standard input ..."); })
          : command.text;
  bool changed = false;
  const std::string text = base::repair_utf8(given, &changed);
  if (changed) {
    console.notice("The input held invalid UTF-8; it was replaced by U+FFFD.");
  }
  const auto tokenizer = Tokenizer::load(model_path(command.model, console), command.pre);
  const std::vector<TokenId> ids = tokenizer->tokenize(text, command.parse_special);
  if (command.ids_only) {
    console.print(fmt::format("{}\n", fmt::join(ids, " ")));
  } else {
    console.answer(command.json ? json_of(ids, *tokenizer) : lines_of(ids, *tokenizer));
  }
  return 0;
}

}  // namespace paceline::cli
