#include "cli/chat/chat_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/help.h"
#include "cli/numbers.h"
#include "cli/suggest.h"
#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

struct Words {
  std::string first;
  std::string rest;
};

Words split(std::string_view text) {
  text = trimmed(text);
  const std::size_t end = text.find_first_of(" \t\n");
  if (end == std::string_view::npos) {
    return {std::string(text), {}};
  }
  return {std::string(text.substr(0, end)), std::string(trimmed(text.substr(end)))};
}

const Setting& find_setting(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  std::vector<std::string> names;
  for (const Setting& setting : generation_settings()) {
    if (setting.name == name) {
      return setting;
    }
    names.push_back(setting.name);
  }
  throw UsageError(fmt::format("[/set] found '{}', expected one of {}{}", name,
                               fmt::join(names, ", "), did_you_mean(name, names)));
}

std::string set(const std::string& arguments, GenerationSettings& settings) {
  const Words words = split(arguments);
  const Setting& setting = find_setting(words.first);
  if (words.rest.empty()) {
    throw UsageError("[/set] found no value, expected '/set " + setting.name + " " + setting.value +
                     "' (default: " + setting.default_text + ")");
  }
  if (words.rest == "default") {
    setting.reset(settings);
    return setting.name + ": " + setting.default_text + "\n";
  }
  setting.assign(settings, "/set " + setting.name, words.rest);
  return setting.name + ": " + setting.show(settings) + "\n";
}

/// What is in force where nobody set anything.
std::string in_force(const std::string& name, const SamplingOptions& s) {
  if (name == "temperature") {
    return format_real(s.temperature);
  }
  if (name == "top-k") {
    return std::to_string(s.top_k);
  }
  if (name == "top-p") {
    return format_real(s.top_p);
  }
  if (name == "min-p") {
    return format_real(s.min_p);
  }
  if (name == "repeat-penalty") {
    return format_real(s.repeat_penalty);
  }
  if (name == "presence-penalty") {
    return format_real(s.presence_penalty);
  }
  if (name == "frequency-penalty") {
    return format_real(s.frequency_penalty);
  }
  return name == "penalty-window" ? std::to_string(s.penalty_window) : std::string();
}

std::string show(Session& session) {
  const SamplingOptions sampling = session.sampling();
  std::string text;
  for (const Setting& setting : generation_settings()) {
    const std::string chosen = setting.show(session.settings());
    const std::string value = chosen.empty() ? in_force(setting.name, sampling) : chosen;
    const std::string origin = chosen.empty() ? "" : " (set)";
    text += fmt::format("  {:<18} {}{}\n", setting.name,
                        value.empty() ? setting.default_text : value, origin);
  }
  return text + fmt::format("  {:<18} {}\n", "system",
                            session.system().empty() ? "none" : session.system());
}

std::string set_system(const std::string& text, Session& session) {
  if (text.empty()) {
    return fmt::format("system: {}\n", session.system().empty() ? "none" : session.system());
  }
  session.set_system(text == "none" ? "" : text);
  session.clear();
  return fmt::format("system: {}; the conversation starts over\n", text);
}

}  // namespace

bool is_chat_command(const std::string& input) { return input.starts_with('/'); }

ChatReply carry_out(const std::string& input, Session& session) {
  const Words words = split(input);
  if (words.first == "/exit" || words.first == "/quit" || words.first == "/bye") {
    return {.leave = true};
  }
  if (words.first == "/help" || words.first == "/?") {
    return {.text = chat_help()};
  }
  if (words.first == "/clear") {
    session.clear();
    return {.text = "the conversation starts over\n"};
  }
  if (words.first == "/system") {
    return {.text = set_system(words.rest, session)};
  }
  if (words.first == "/set") {
    return {.text = words.rest.empty() ? show(session) : set(words.rest, session.settings())};
  }
  if (words.first == "/show") {
    return {.text = show(session)};
  }
  const std::vector<std::string> names = {"/help", "/clear", "/system", "/set", "/show", "/exit"};
  throw UsageError(fmt::format("[chat] found '{}', expected one of {}{}", words.first,
                               fmt::join(names, ", "), did_you_mean(words.first, names)));
}

}  // namespace paceline::cli
