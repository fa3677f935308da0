#include "formats/model_defaults.h"

#include <doctest/doctest.h>

#include "paceline/error.h"

using namespace paceline;
using namespace paceline::formats;

namespace {

Checkpoint folder(const std::string& generation_config, const std::string& tokenizer_config = {}) {
  Checkpoint checkpoint;
  checkpoint.source = Source::safetensors;
  checkpoint.generation_config_json = generation_config;
  checkpoint.tokenizer_config_json = tokenizer_config;
  return checkpoint;
}

}  // namespace

TEST_CASE("model defaults come from generation_config.json") {
  const GenerationDefaults d = generation_defaults(folder(
      R"({"temperature": 0.6, "top_k": 20, "top_p": 0.95, "min_p": null, "repetition_penalty": 1, "eos_token_id": [2, 7]})"));
  CHECK(d.temperature == 0.6);
  CHECK(d.top_k == 20);
  CHECK(d.top_p == 0.95);
  CHECK_FALSE(d.min_p);
  CHECK(d.repetition_penalty == 1.0);
  CHECK(d.end_ids == std::vector<int32_t>{2, 7});
  CHECK(generation_defaults(folder(R"({"eos_token_id": 3})")).end_ids == std::vector<int32_t>{3});
  CHECK_FALSE(generation_defaults(folder("")).temperature);
}

TEST_CASE("end tokens of config.json count where generation_config.json names none") {
  Checkpoint checkpoint = folder(R"({"temperature": 1})");
  checkpoint.config_json = R"({"eos_token_id": [4, 5], "text_config": {"eos_token_id": 6}})";
  CHECK(generation_defaults(checkpoint).end_ids == std::vector<int32_t>{4, 5});
  checkpoint.config_json = R"({"text_config": {"eos_token_id": 6}})";
  CHECK(generation_defaults(checkpoint).end_ids == std::vector<int32_t>{6});
  checkpoint.generation_config_json = R"({"eos_token_id": 7})";
  CHECK(generation_defaults(checkpoint).end_ids == std::vector<int32_t>{7});
}

TEST_CASE("model defaults of another kind are refused by key") {
  for (const char* text : {R"({"temperature": "hot"})", R"({"eos_token_id": "</s>"})",
                           R"({"eos_token_id": [-1]})", "[]"}) {
    CHECK_THROWS_AS(generation_defaults(folder(text)), Error);
  }
  CHECK_THROWS_WITH_AS(generation_defaults(folder(R"({"top_p": true})")),
                       doctest::Contains("top_p"), Error);
}

TEST_CASE("model defaults of GGUF come from its metadata") {
  Checkpoint checkpoint;
  checkpoint.metadata.insert("general.sampling.temp", 0.25);
  checkpoint.metadata.insert("general.sampling.top_k", int64_t{5});
  checkpoint.metadata.insert("tokenizer.chat_template", std::string_view("{{ messages }}"));
  CHECK(generation_defaults(checkpoint).temperature == 0.25);
  CHECK(generation_defaults(checkpoint).top_k == 5);
  CHECK(chat_template(checkpoint) == "{{ messages }}");
  CHECK(chat_template(Checkpoint{}).empty());
}

TEST_CASE("chat template of a folder: the file, the config's string, the one named default") {
  CHECK(chat_template(folder("", R"({"chat_template": "one"})")) == "one");
  CHECK(chat_template(folder("", R"({"chat_template": [{"name": "tool_use", "template": "a"},
                                     {"name": "default", "template": "b"}]})")) == "b");
  CHECK(chat_template(folder("", "{}")).empty());
  CHECK(chat_template(folder("")).empty());
  Checkpoint both = folder("", R"({"chat_template": "one"})");
  both.chat_template_jinja = "file";
  CHECK(chat_template(both) == "file");
  CHECK_THROWS_AS(chat_template(folder("", R"({"chat_template": 1})")), Error);
  CHECK_THROWS_AS(chat_template(folder("", R"({"chat_template": [{"name": "default"}]})")), Error);
}
