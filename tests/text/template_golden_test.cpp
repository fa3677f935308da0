#include <doctest/doctest.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cached_file.h"
#include "template_difference.h"

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

ExpectedRendering expected_of(const json& result) {
  if (result.contains("error")) return {.fails = true, .text = result["message"]};
  return {.fails = false, .text = result["rendered"]};
}

}  // namespace

TEST_CASE("templates render as transformers renders them") {
  const json conversations =
      json::parse(read_file(kFolder / "conversations.json"))["conversations"];
  const auto allowed = listed_exceptions("tests/text/template_exceptions.json");
  int equal = 0;
  int excepted = 0;
  const json results = json::parse(read_file(kFolder / "results.json"));
  for (const auto& [name, model] : results.items()) {
    const auto folder = model["folder"].get<std::string>();
    const auto path = folder.empty() ? std::optional(kFolder / name)
                                     : cached_file(std::filesystem::path(folder) / name);
    if (!path) continue;
    const auto source = read_file(*path);
    for (const auto& [title, expected] : model["results"].items()) {
      const auto id = (std::filesystem::path(name) / title).string();
      const auto found = rendering_difference(source, input_of(conversations[title], model),
                                              expected_of(expected));
      if (allowed.contains(id)) {
        CHECK_MESSAGE(found != "", id, " is listed in template_exceptions.json but equal");
        ++excepted;
        continue;
      }
      CHECK_MESSAGE(found == "", id, " ", found);
      equal += found.empty() ? 1 : 0;
    }
  }
  std::cout << "templates: " << equal << " renderings equal, " << excepted
            << " listed exceptions\n";
  CHECK(equal > 0);
}

TEST_CASE("expressions and statements give what transformers' Jinja gives") {
  const json file = json::parse(read_file("tests/text/expression_cases.json"));
  const auto allowed = listed_exceptions("tests/text/expression_exceptions.json");
  TemplateInput input;
  input.messages_json = "[]";
  input.extra_json = file["variables"].dump();
  input.bos_token = "<s>";
  input.eos_token = "</s>";
  for (const auto& entry : file["cases"]) {
    const auto source = entry["source"].get<std::string>();
    const bool fails = entry.contains("error");
    const auto found =
        rendering_difference(source, input, {fails, entry[fails ? "error" : "expected"]});
    if (allowed.count(source) > 0) {
      CHECK_MESSAGE(found != "", source, " is listed in expression_exceptions.json but equal");
    } else {
      CHECK_MESSAGE(found == "", source, " ", found);
    }
  }
}

}  // namespace paceline::text
