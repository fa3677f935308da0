#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "cached_file.h"
#include "formats/checkpoint.h"
#include "gguf_vocab.h"
#include "paceline/error.h"
#include "text/tokenizer.h"

namespace paceline::text {
namespace {

using nlohmann::json;

const std::filesystem::path kCases = "tests/golden/tokenizer";

std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& path) {
  const auto checkpoint = formats::open_checkpoint(path);
  return Tokenizer::from_gguf(gguf_vocab(checkpoint.metadata));
}

/// The first of the files that the head of a case list names.
std::optional<std::filesystem::path> model_of(const json& head) {
  for (const auto& name : head["gguf"]) {
    const auto path = cached_file(std::filesystem::path(head["folder"].get<std::string>()) / name.get<std::string>());
    if (path) return path;
  }
  return std::nullopt;
}

void run_cases(const std::filesystem::path& list) {
  std::ifstream lines(list);
  std::string line;
  std::getline(lines, line);
  const json head = json::parse(line);
  const auto path = model_of(head);
  if (!path) return;
  const auto tokenizer = open_tokenizer(*path);
  CHECK(tokenizer->adds_bos() == head["add_bos"].get<bool>());
  while (std::getline(lines, line)) {
    const json entry = json::parse(line);
    const auto text = entry["text"].get<std::string>();
    const auto specials = entry["parse_special"].get<bool>() ? Specials::parse : Specials::plain;
    CAPTURE(list.string());
    CAPTURE(text);
    CHECK(tokenizer->encode(text, specials) == entry["ids"].get<std::vector<TokenId>>());
  }
}

}  // namespace

TEST_CASE("ids equal those of llama.cpp for every case and vocabulary") {
  for (const auto& entry : std::filesystem::directory_iterator(kCases)) {
    if (entry.path().extension() == ".jsonl") run_cases(entry.path());
  }
}

}  // namespace paceline::text
