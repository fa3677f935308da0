#include <ctime>

#include "base/json_text.h"
#include "base/utf8.h"
#include "engine/text_model.h"

namespace paceline::engine {
namespace {

constexpr std::string_view kGuard = "\xEF\xB7\x90";  // U+FDD0

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "[prompt] " + what);
}

std::string repaired(std::string_view text, bool& any) {
  bool changed = false;
  std::string valid = base::repair_utf8(text, &changed);
  any = any || changed;
  return valid;
}

std::string messages_json(const TextModel& model, std::span<const Message> messages, bool& any) {
  std::string json = "[";
  for (const Message& message : messages) {
    const std::string role = model.tokenizer->guard(repaired(message.role, any));
    const std::string content = model.tokenizer->guard(repaired(message.content, any));
    if (json.size() > 1) json += ',';
    json +=
        "{\"role\":" + base::json_quote(role) + ",\"content\":" + base::json_quote(content) + '}';
  }
  return json + ']';
}

std::vector<TokenId> raw_ids(const TextModel& model, std::string_view prompt) {
  const text::Tokenizer& tokenizer = *model.tokenizer;
  std::vector<TokenId> ids = tokenizer.encode(prompt, text::Specials::parse);
  const auto bos = tokenizer.bos();
  const bool has_bos = bos && !ids.empty() && ids.front() == *bos;
  if (tokenizer.adds_bos() && bos && !has_bos) ids.insert(ids.begin(), *bos);
  return ids;
}

void check_ids(const TextModel& model, const std::vector<TokenId>& ids) {
  const int32_t vocab = model.tokenizer->vocab_size();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < vocab) continue;
    refuse("prompt_ids[" + std::to_string(i) + "] is " + std::to_string(ids[i]) +
           ", expected 0 to " + std::to_string(vocab - 1));
  }
}

}  // namespace

std::string render(const TextModel& model, std::span<const Message> messages,
                   std::string_view variables_json, bool& any) {
  if (!model.chat_template) {
    throw Error(ErrorCode::template_error,
                "[template] the model has no chat template, expected one: give it with "
                "--chat-template FILE "
                "(LoadOptions::chat_template) or send a raw prompt with --raw (Request::prompt)");
  }
  text::TemplateInput input;
  input.messages_json = messages_json(model, messages, any);
  input.extra_json = variables_json;
  input.bos_token = model.tokenizer->bos_text();
  input.eos_token = model.tokenizer->eos_text();
  input.unix_time = std::time(nullptr);
  return model.chat_template->render(input);
}

std::string without_guards(std::string_view rendered) {
  std::string text;
  for (std::size_t at = 0; at < rendered.size();) {
    const std::size_t next = std::min(rendered.find(kGuard, at), rendered.size());
    text += rendered.substr(at, next - at);
    at = next + kGuard.size();
  }
  return text;
}

Prompt make_prompt(const TextModel& model, const Request& request) {
  const int kinds = static_cast<int>(!request.messages.empty()) +
                    static_cast<int>(!request.prompt.empty()) +
                    static_cast<int>(!request.prompt_ids.empty());
  if (kinds > 1) refuse("found more than one of messages, prompt and prompt_ids, expected one");
  Prompt prompt;
  if (!request.prompt_ids.empty()) {
    check_ids(model, request.prompt_ids);
    prompt.ids = request.prompt_ids;
  } else if (!request.messages.empty()) {
    const std::string text =
        render(model, request.messages, request.template_variables_json, prompt.repaired);
    prompt.ids = model.tokenizer->encode_guarded(text);
  } else {
    prompt.ids = raw_ids(model, repaired(request.prompt, prompt.repaired));
  }
  if (prompt.ids.empty()) refuse("found an empty prompt, expected at least one token");
  return prompt;
}

}  // namespace paceline::engine
