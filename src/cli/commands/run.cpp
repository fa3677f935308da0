#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/answer_json.h"
#include "cli/catalogue/catalogue.h"
#include "cli/catalogue/helper.h"
#include "cli/catalogue/model_path.h"
#include "cli/chat/chat.h"
#include "cli/commands/commands.h"
#include "cli/input.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

constexpr const char* kWhiteSpace = " \t\r\n";

/// One argument alone that can only be a prompt is one. A single word that is neither is refused
/// with both readings, unless it is a path.
RunCommand with_meant_prompt(RunCommand command) {
  std::string& word = command.model.model;
  if (command.prompt || word.empty() || has_model_suffix(word) || is_model(word)) {
    return command;
  }
  if (word.find_first_of(kWhiteSpace) != std::string::npos) {
    command.prompt = std::exchange(word, {});
    return command;
  }
  if (word.find('/') != std::string::npos) {
    return command;
  }
  throw Error(ErrorCode::not_found,
              fmt::format("{} (a prompt of one word: paceline run {} '{}')",
                          unknown_model("model", word), starter_model().name, word));
}

/// PROMPT, piped input, or both with a blank line between; nothing = chat.
std::optional<std::string> gather_prompt(const RunCommand& command, const Console& console) {
  if (console.settings().terminal.input) {
    return command.prompt;
  }
  std::string piped = read_all(
      STDIN_FILENO, [&] { console.notice("Reading standard input (Ctrl-D ends it) ..."); });
  if (!command.prompt) {
    if (piped.empty()) {
      throw UsageError(
          "[run] found no prompt and an empty standard input, expected 'paceline run MODEL "
          "PROMPT'");
    }
    return piped;
  }
  return piped.empty() ? *command.prompt : *command.prompt + "\n\n" + piped;
}

void report_load(const ModelInfo& info, const Console& console) {
  console.notice(
      fmt::format("loaded {} in {:.0f} ms: {}, {} parameters, {} in memory, context {} of {}, {}, "
                  "{}, {} threads",
                  info.name, info.load_ms, info.architecture, format_count(info.parameters),
                  format_bytes(info.resident_bytes), info.context, info.context_trained,
                  info.exact ? info.numerics : "portable", info.instruction_set, info.threads));
}

int answer_once(Engine& engine, Session& session, const RunCommand& command,
                const std::string& prompt, const Console& console) {
  const Interrupt interrupt(Interrupt::Second::ends_process);
  const Answer answer = session.ask(prompt, interrupt);
  if (command.json) {
    const auto text_of = [&engine](TokenId id) { return engine.token_text(id); };
    console.print(answer_json(answer, {.with_logprobs = command.logprobs >= 0,
                                       .load_ms = engine.info().load_ms,
                                       .token_text = text_of}));
  }
  return answer.reason == FinishReason::cancelled ? kInterrupted : 0;
}

}  // namespace

int run(const RunCommand& given, const Console& console) {
  const RunCommand command = with_meant_prompt(given);
  const std::optional<std::string> prompt = gather_prompt(command, console);
  if (!prompt && command.json) {
    throw UsageError("[--json] found no prompt, expected 'paceline run MODEL PROMPT --json'");
  }
  const std::unique_ptr<Engine> engine = load_engine(command.model, command.load, console);
  if (command.verbose) {
    report_load(engine->info(), console);
  }
  Session session(*engine, command, console);
  if (prompt) {
    return answer_once(*engine, session, command, *prompt, console);
  }
  return chat(session, command.model.model.empty() ? starter_model().name : engine->info().name,
              console);
}

}  // namespace paceline::cli
