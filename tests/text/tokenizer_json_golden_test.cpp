#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cached_file.h"
#include "paceline/error.h"
#include "text/tokenizer.h"

namespace paceline::text {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;

json case_file() { return json::parse(read_file("tests/text/tokenizer_json_cases.json")); }

std::shared_ptr<const Tokenizer> byte_level(const std::string& config) {
  return Tokenizer::from_json(
      {.tokenizer = case_file()["byte-level"]["tokenizer"].dump(), .tokenizer_config = config});
}

ErrorCode refusal(const std::string& text, const std::string& config) {
  try {
    Tokenizer::from_json({.tokenizer = text, .tokenizer_config = config});
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

}  // namespace

TEST_CASE("tokenizer.json gives the ids and texts of Hugging Face's library") {
  const json file = case_file();
  for (const auto& [name, entry] : file.items()) {
    const auto tokenizer = Tokenizer::from_json({.tokenizer = entry["tokenizer"].dump()});
    for (const auto& expected : entry["cases"]) {
      const auto text = expected["text"].get<std::string>();
      CAPTURE(name);
      CAPTURE(text);
      const auto parsed = tokenizer->encode(text, Specials::parse);
      CHECK(parsed == expected["parse"].get<Ids>());
      CHECK(tokenizer->encode(text, Specials::plain) == expected["plain"].get<Ids>());
      CHECK(tokenizer->encode_guarded(text) == expected["parse"].get<Ids>());
      CHECK(tokenizer->encode_guarded(tokenizer->guard(text)) == expected["plain"].get<Ids>());
      CHECK(tokenizer->decode(parsed, true) == expected["decoded"].get<std::string>());
    }
  }
}

TEST_CASE("tokenizer_config.json names the special tokens") {
  const auto tokenizer = byte_level(
      R"({"bos_token": {"content": "<|im_start|>"}, "eos_token": "<|im_end|>", "add_bos_token": true})");
  CHECK(tokenizer->bos_text() == "<|im_start|>");
  CHECK(tokenizer->eos() == tokenizer->find_token("<|im_end|>"));
  CHECK(tokenizer->end_ids() == Ids{*tokenizer->eos()});
  CHECK(tokenizer->adds_bos());
  CHECK_FALSE(byte_level(R"({"bos_token": null})")->bos());
  CHECK_FALSE(byte_level("")->adds_bos());
}

TEST_CASE("special_tokens_map.json names the special tokens that tokenizer_config.json lacks") {
  const auto text = case_file()["byte-level"]["tokenizer"].dump();
  const char* map = R"({"bos_token": "<|im_start|>", "eos_token": {"content": "<|im_end|>"}})";
  const auto only = Tokenizer::from_json({.tokenizer = text, .special_tokens_map = map});
  CHECK(only->bos_text() == "<|im_start|>");
  CHECK(only->eos_text() == "<|im_end|>");
  CHECK_FALSE(only->adds_bos());
  const auto both =
      Tokenizer::from_json({.tokenizer = text,
                            .tokenizer_config = R"({"bos_token": null, "eos_token": "<mask>"})",
                            .special_tokens_map = map});
  CHECK_FALSE(both->bos());
  CHECK(both->eos_text() == "<mask>");
  CHECK_THROWS_AS(Tokenizer::from_json({.tokenizer = text, .special_tokens_map = "[]"}), Error);
}

TEST_CASE("a raw prompt starts with BOS where the post-processor puts one in front") {
  json file = case_file()["byte-level"]["tokenizer"];
  const auto opened = [&](const std::string& config) {
    return Tokenizer::from_json({.tokenizer = file.dump(), .tokenizer_config = config});
  };
  const json start = {{"SpecialToken", {{"id", "<|im_start|>"}, {"type_id", 0}}}};
  const json whole = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const auto id = *opened("")->find_token("<|im_start|>");
  const json specials = {{"<|im_start|>",
                          {{"id", "<|im_start|>"},
                           {"ids", json::array({id})},
                           {"tokens", json::array({"<|im_start|>"})}}}};
  const auto template_of = [&](const json& single) {
    return json{{"type", "TemplateProcessing"},
                {"single", single},
                {"pair", json::array({whole, whole})},
                {"special_tokens", specials}};
  };
  const json byte_level = {{"type", "ByteLevel"},
                           {"add_prefix_space", true},
                           {"trim_offsets", false},
                           {"use_regex", true}};
  const std::string named = R"({"bos_token": "<|im_start|>"})";

  file["post_processor"] = template_of(json::array({start, whole}));
  CHECK(opened(named)->adds_bos());
  CHECK(opened("")->bos() == id);
  CHECK(opened("")->adds_bos());
  CHECK_FALSE(opened(R"({"bos_token": "<|im_start|>", "add_bos_token": false})")->adds_bos());
  CHECK_FALSE(opened(R"({"bos_token": "<|im_end|>"})")->adds_bos());
  CHECK_FALSE(opened(R"({"bos_token": null})")->adds_bos());

  file["post_processor"] = {{"type", "Sequence"},
                            {"processors", json::array({byte_level, file["post_processor"]})}};
  CHECK(opened(named)->adds_bos());

  file["post_processor"] = template_of(json::array({whole, start}));
  CHECK_FALSE(opened(named)->adds_bos());
  file["post_processor"] = byte_level;
  CHECK_FALSE(opened(named)->adds_bos());
}

TEST_CASE("files that are no tokenizer are refused") {
  const auto good = case_file()["byte-level"]["tokenizer"].dump();
  CHECK(refusal("", "") == ErrorCode::bad_checkpoint);
  CHECK(refusal("{}", "") == ErrorCode::bad_checkpoint);
  CHECK(refusal(good.substr(0, good.size() / 2), "") == ErrorCode::bad_checkpoint);
  CHECK(refusal(good, "[]") == ErrorCode::bad_checkpoint);
  json unknown_decoder = json::parse(good);
  unknown_decoder["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  CHECK(refusal(unknown_decoder.dump(), "") == ErrorCode::unsupported);
}

}  // namespace paceline::text
