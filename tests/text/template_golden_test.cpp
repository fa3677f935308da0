#include <doctest/doctest.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cached_file.h"
#include "paceline/error.h"
#include "text/chat_template.h"

namespace paceline::text {
namespace {

using json = nlohmann::ordered_json;

const std::filesystem::path kFolder = "tests/golden/templates";
constexpr int64_t kNow = 1768480496;  // 2026-01-15 12:34:56 UTC, as conversations.json says

std::string dump_or_empty(const json& value) { return value.is_null() ? "" : value.dump(); }

TemplateInput input_of(const json& conversation, const json& model) {
  return {.messages_json = conversation["messages"].dump(),
          .tools_json = dump_or_empty(conversation["tools"]),
          .extra_json = conversation["extra"].dump(),
          .add_generation_prompt = conversation["add_generation_prompt"],
          .bos_token = model["bos_token"],
          .eos_token = model["eos_token"],
          .unix_time = kNow};
}

/// What differs from transformers: empty when nothing does.
std::string difference(const std::string& source, const TemplateInput& input, const json& expected) {
  std::string rendered;
  try {
    rendered = ChatTemplate(source).render(input);
  } catch (const Error& error) {
    return expected.contains("error") ? "" : std::string("throws ") + error.what();
  }
  if (expected.contains("error")) return "renders, expected " + expected["message"].get<std::string>();
  const auto& wanted = expected["rendered"].get_ref<const std::string&>();
  if (rendered == wanted) return "";
  std::size_t at = 0;
  while (at < rendered.size() && at < wanted.size() && rendered[at] == wanted[at]) ++at;
  const std::size_t from = at < 30 ? 0 : at - 30;
  return "at byte " + std::to_string(at) + ": " +
         json(rendered.substr(from, 90)).dump(-1, ' ', false, json::error_handler_t::replace) + ", expected " +
         json(wanted.substr(from, 90)).dump(-1, ' ', false, json::error_handler_t::replace);
}

struct Exceptions {
  std::set<std::string> names;
  bool contains(const std::string& name) const { return names.count(name) > 0; }
};

/// template_exceptions.json: "template/conversation" to the reason why it may differ.
Exceptions exceptions() {
  Exceptions result;
  const json list = json::parse(read_file("tests/text/template_exceptions.json"));
  for (const auto& [name, reason] : list.items()) {
    result.names.insert(name);
  }
  return result;
}

}  // namespace

TEST_CASE("templates render as transformers renders them") {
  const json conversations = json::parse(read_file(kFolder / "conversations.json"))["conversations"];
  const auto allowed = exceptions();
  int equal = 0;
  int excepted = 0;
  const json results = json::parse(read_file(kFolder / "results.json"));
  for (const auto& [name, model] : results.items()) {
    const auto folder = model["folder"].get<std::string>();
    const auto path = folder.empty() ? std::optional(kFolder / name) : cached_file(folder + "/" + name);
    if (!path) continue;
    const auto source = read_file(*path);
    for (const auto& [title, expected] : model["results"].items()) {
      const auto id = name + "/" + title;
      const auto found = difference(source, input_of(conversations[title], model), expected);
      if (allowed.contains(id)) {
        CHECK_MESSAGE(found != "", id, " is listed in template_exceptions.json but equal");
        ++excepted;
        continue;
      }
      CHECK_MESSAGE(found == "", id, " ", found);
      equal += found.empty() ? 1 : 0;
    }
  }
  std::cout << "templates: " << equal << " renderings equal, " << excepted << " listed exceptions\n";
  CHECK(equal > 0);
}

}  // namespace paceline::text
