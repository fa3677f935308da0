// What a load tells, and the vocabulary without the weights.
#include "paceline/tokenizer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "paceline/engine.h"
#include "support/model_cache.h"

using namespace paceline;

TEST_CASE("a tokenizer alone agrees with the engine, and a load tells its progress") {
  const auto model = testing::cached_model("SmolLM2-135M-Instruct.Q4_1.gguf");
  if (!model) return;
  std::vector<double> progress;
  LoadOptions options;
  options.context = 64;
  options.load_progress = [&progress](double fraction) { progress.push_back(fraction); };
  const auto engine = Engine::load(*model, options);
  REQUIRE(progress.size() > 10);
  CHECK(std::is_sorted(progress.begin(), progress.end()));
  CHECK(progress.front() > 0);
  CHECK(progress.back() == 1.0);

  const auto tokenizer = Tokenizer::load(*model);
  const std::string text = "Hello  w\xC3\xB6rld\xFF <|im_end|>\n123";
  for (const bool parse_special : {false, true}) {
    const std::vector<TokenId> ids = tokenizer->tokenize(text, parse_special);
    CHECK(ids == engine->tokenize(text, parse_special));
    CHECK(tokenizer->detokenize(ids) == engine->detokenize(ids));
    CHECK(tokenizer->token_text(ids.back()) == engine->token_text(ids.back()));
  }
}

TEST_CASE("a tokenizer refuses what is no model") {
  try {
    (void)Tokenizer::load("/no/such/model.gguf");
    FAIL("expected a refusal");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::not_found);
  }
}

TEST_CASE("a load refuses numbers out of range before it opens anything") {
  const auto text_of = [](const LoadOptions& options) {
    try {
      (void)Engine::load("/no/such/model.gguf", options);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  LoadOptions threads;
  threads.threads = 100000;
  CHECK(text_of(threads).find("threads is 100000, expected 0") != std::string::npos);
  threads.threads = -1;
  CHECK(text_of(threads).find("threads is -1") != std::string::npos);
  LoadOptions context;
  context.context = -5;
  CHECK(text_of(context).find("context is -5") != std::string::npos);
}
