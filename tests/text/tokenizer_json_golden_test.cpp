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
  return Tokenizer::from_json(case_file()["byte-level"]["tokenizer"].dump(), config);
}

ErrorCode refusal(const std::string& text, const std::string& config) {
  try {
    Tokenizer::from_json(text, config);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

}  // namespace

TEST_CASE("tokenizer.json gives the ids and texts of Hugging Face's library") {
  const json file = case_file();
  for (const auto& [name, entry] : file.items()) {
    const auto tokenizer = Tokenizer::from_json(entry["tokenizer"].dump(), "");
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
