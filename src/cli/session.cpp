#include "cli/session.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "cli/numbers.h"

namespace paceline::cli {
namespace {

bool has_template(const Engine& engine, const RunCommand& command) {
  return engine.info().has_chat_template || !command.load.chat_template_file.empty();
}

}  // namespace

Session::Session(Engine& engine, const RunCommand& command, const Console& console)
    : engine_(engine),
      command_(command),
      console_(console),
      raw_(command.raw || !has_template(engine, command)),
      settings_(command.generation) {
  if (raw_ && !command.raw) {
    console.notice("The model has no chat template: it continues the text as it is.");
  }
  if (!command.system.empty()) {
    set_system(command.system);
  }
}

void Session::set_system(const std::string& text) {
  if (raw_ && !text.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        "[system] found no chat template in use, expected a chat model (or --chat-template FILE)");
  }
  system_ = repaired(text);
}

std::string Session::repaired(const std::string& text) {
  bool changed = false;
  std::string result = base::repair_utf8(text, &changed);
  if (changed) {
    say_repaired();
  }
  return result;
}

void Session::say_repaired() {
  if (!said_repaired_) {
    console_.notice("The input held invalid UTF-8; it was replaced by U+FFFD.");
  }
  said_repaired_ = true;
}

Request Session::make_request(const std::string& text) {
  Request request;
  if (raw_) {
    request.prompt = repaired(text);
  } else {
    if (!system_.empty()) {
      request.messages.push_back({"system", system_});
    }
    request.messages.insert(request.messages.end(), turns_.begin(), turns_.end());
    request.messages.push_back({"user", repaired(text)});
  }
  request.sampling = sampling();
  request.tokens_max = settings_.max_tokens.value_or(0);
  request.stop = settings_.stop;
  request.ignore_end = command_.ignore_end;
  request.logprobs = command_.logprobs;
  return request;
}

Answer Session::ask(const std::string& text, const Interrupt& interrupt) {
  interrupt.take();  // what was pressed before does not count
  Request request = make_request(text);
  Message user = raw_ ? Message{} : request.messages.back();
  const auto print = [this](std::string_view piece) {
    if (!command_.json) {
      console_.answer(piece);
    }
  };
  Answer result = answer(engine_, std::move(request), interrupt, print);
  const bool open_line = !result.text.empty() && !result.text.ends_with('\n');
  if (!command_.json && open_line) {
    console_.print("\n");
  }
  if (result.usage.prompt_repaired) {
    say_repaired();
  }
  if (result.error) {
    throw Error(*result.error);
  }
  if (!raw_ && !result.text.empty()) {
    turns_.push_back(std::move(user));
    turns_.push_back({"assistant", result.text});
  }
  report(result);
  return result;
}

void Session::report(const Answer& answer) const {
  if (command_.verbose) {
    console_.notice(
        fmt::format("prompt {} tokens, {} tok/s; answer {} tokens, {} tok/s; {}; seed {}",
                    answer.usage.prompt_tokens, format_rate(prompt_rate(answer)),
                    answer.usage.completion_tokens, format_rate(decode_rate(answer)),
                    name(answer.reason), answer.usage.seed));
  }
}

}  // namespace paceline::cli
