// The answer of a real model does not depend on how it is computed: ids and logprobs are equal bit
// for bit.
#include <doctest/doctest.h>

#include <bit>
#include <vector>

#include "engine/engine_impl.h"
#include "support/model_cache.h"

using namespace paceline;

namespace {

struct Answer {
  std::vector<TokenId> ids;
  std::vector<uint32_t> bits;  // of the logprobs

  bool operator==(const Answer&) const = default;
};

void add(Answer& answer, float logprob) { answer.bits.push_back(std::bit_cast<uint32_t>(logprob)); }

Answer generate(Engine& engine, float temperature) {
  Request request;
  request.messages = {
      {.role = "user",
       .content = "Name three colours and say in one sentence what each reminds you of."}};
  request.sampling.temperature = temperature;
  request.sampling.seed = 11;
  request.tokens_max = 24;
  request.logprobs = 3;
  Answer answer;
  engine.generate(request, [&](const Event& event) {
    CHECK_FALSE(event.error);
    if (event.kind != Event::Kind::token) return;
    answer.ids.push_back(event.token.id);
    add(answer, event.token.logprob);
    for (const TokenLogprob& top : event.token.top) add(answer, top.logprob);
  });
  return answer;
}

struct Setting {
  int32_t threads;
  engine::Tuning tuning;
};

}  // namespace

TEST_CASE("answers do not depend on slices, page size, threads or what ran before") {
  const auto model = testing::cached_model("SmolLM2-135M-Instruct.Q4_1.gguf");
  if (!model) return;
  std::vector<Answer> expected;
  for (const Setting& s :
       {Setting{2, {512, 64}}, Setting{1, {7, 64}}, Setting{2, {16, 16}}, Setting{1, {1, 16}}}) {
    CAPTURE(s.threads);
    CAPTURE(s.tuning.prefill_tokens);
    CAPTURE(s.tuning.page_tokens);
    LoadOptions options;
    options.threads = s.threads;
    const auto engine = engine::load_engine(*model, options, s.tuning);
    std::vector<Answer> found;
    for (const float temperature : {0.0F, 1.0F, 0.0F})
      found.push_back(generate(*engine, temperature));
    CHECK(found[0].ids.size() == 24);
    CHECK(found[0] == found[2]);
    CHECK(found[0] != found[1]);
    if (expected.empty()) expected = found;
    CHECK(found == expected);
  }
}
