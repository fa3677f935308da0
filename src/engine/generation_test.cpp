#include "engine/generation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/fake_executor.h"
#include "engine/test_job.h"

using namespace paceline;
using namespace paceline::engine;

namespace {

struct Fixture {
  FakeExecutor::Shared shared;
  FakeExecutor executor{shared};
  Record record;

  void run(Job job, int32_t prefill_tokens = 512) {
    Generation generation(std::move(job), executor, prefill_tokens);
    while (!generation.done()) generation.step();
    CHECK(shared.alive == 0);
    CHECK(record.last().kind == Event::Kind::finished);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "generation: started, tokens, finished, within the budget") {
  run(test_job(record, {7, 8, 9}, 4));
  CHECK(record.events.front().kind == Event::Kind::started);
  CHECK(record.events.front().usage.prompt_tokens == 3);
  CHECK(record.ids() == std::vector<TokenId>{10, 11, 12, 13});
  CHECK(record.text() == "klmn");
  CHECK(record.last().reason == FinishReason::length);
  CHECK(record.last().usage.completion_tokens == 4);
  CHECK(record.last().timings.decode_ms >= 0);
  // The budget's last token is never evaluated.
  CHECK(shared.slices == std::vector<std::size_t>{3, 1, 1, 1});
}

TEST_CASE_FIXTURE(
    Fixture, "generation: the prompt goes in slices, the last prompt token belongs to its slice") {
  run(test_job(record, {1, 2, 3, 4, 5}, 2), 2);
  CHECK(shared.slices == std::vector<std::size_t>{2, 2, 1, 1});
  CHECK(shared.ids == std::vector<TokenId>{1, 2, 3, 4, 5, 6});
  CHECK(record.ids() == std::vector<TokenId>{6, 7});
}

TEST_CASE_FIXTURE(Fixture, "generation: an end token is neither streamed nor counted") {
  Job job = test_job(record, {1}, 10);
  job.end_ids = {3, 4};
  run(std::move(job));
  CHECK(record.ids() == std::vector<TokenId>{2});
  CHECK(record.last().reason == FinishReason::stop);
  CHECK(record.last().usage.completion_tokens == 1);
}

TEST_CASE_FIXTURE(Fixture, "generation: an end token at once gives an empty answer") {
  Job job = test_job(record, {1}, 10);
  job.end_ids = {2};
  run(std::move(job));
  CHECK(record.ids().empty());
  CHECK(record.last().reason == FinishReason::stop);
  CHECK(record.events.size() == 2);
}

TEST_CASE_FIXTURE(Fixture, "generation: a stop string ends the text before it, across tokens") {
  Job job = test_job(record, {1}, 10);
  job.stops = sampling::StopMatcher({"efg"});
  run(std::move(job));
  CHECK(record.text() == "cd");
  CHECK(record.ids() == std::vector<TokenId>{2, 3, 4, 5, 6});
  CHECK(record.last().reason == FinishReason::stop);
}

TEST_CASE_FIXTURE(Fixture, "generation: a stop string on the budget's last token is a stop") {
  Job job = test_job(record, {1}, 2);
  job.stops = sampling::StopMatcher({"d"});
  run(std::move(job));
  CHECK(record.text() == "c");
  CHECK(record.last().reason == FinishReason::stop);
}

TEST_CASE_FIXTURE(Fixture, "generation: held-back text is delivered when the budget ends") {
  Job job = test_job(record, {1}, 3);
  job.stops = sampling::StopMatcher({"defgh"});
  job.text.finish = [] { return std::string("!"); };
  run(std::move(job));
  CHECK(record.last().text == "de!");
  CHECK(record.text() == "cde!");
  CHECK(record.last().reason == FinishReason::length);
}

TEST_CASE_FIXTURE(Fixture, "generation: a seed gives the same answer for every slice size") {
  const auto answer = [this](uint64_t seed, int32_t slice) {
    record.events.clear();
    Job job = test_job(record, {1, 2, 3, 4, 5, 6, 7}, 12);
    job.sampling = {};
    job.sampling.temperature = 3;
    job.sampling.repeat_penalty = 1.2F;
    job.seed = seed;
    job.logprobs = 2;
    run(std::move(job), slice);
    CHECK(record.last().usage.seed == seed);
    return record.ids();
  };
  const std::vector<TokenId> first = answer(4, 512);
  for (const int32_t slice : {1, 2, 3, 7}) CHECK(answer(4, slice) == first);
  CHECK(answer(5, 512) != first);
}

TEST_CASE_FIXTURE(Fixture, "generation: padded ids are never drawn") {
  Job job = test_job(record, {1}, 20);
  job.sampling.temperature = 100;
  job.sampling.top_p = 1;
  run(std::move(job));
  for (const TokenId id : record.ids()) CHECK(id < 32);
}

TEST_CASE_FIXTURE(Fixture, "generation: logprobs come only when asked for") {
  run(test_job(record, {1}, 1));
  CHECK(record.events[1].token.top.empty());
  CHECK(record.events[1].token.logprob == 0);
  record.events.clear();
  Job job = test_job(record, {1}, 1);
  job.logprobs = 2;
  run(std::move(job));
  const Token& token = record.events[1].token;
  CHECK(token.id == 2);
  CHECK(token.logprob < 0);
  REQUIRE(token.top.size() == 2);
  CHECK(token.top[0].id == 2);
  CHECK(token.top[0].logprob == token.logprob);
  CHECK(token.top[1].id == 3);
}

TEST_CASE_FIXTURE(Fixture, "generation: cancel takes effect at the next step and keeps the text") {
  Job job = test_job(record, {1}, 100);
  job.stops = sampling::StopMatcher({"de?"});
  auto state = job.state;
  record.on_event = [&](const Event& event) {
    if (event.kind == Event::Kind::token && event.token.id == 4) state->cancelled = true;
  };
  run(std::move(job));
  CHECK(record.ids() == std::vector<TokenId>{2, 3, 4});
  CHECK(record.text() == "cde");
  CHECK(record.last().reason == FinishReason::cancelled);
  CHECK_FALSE(record.last().error);
  state->wait();
}

TEST_CASE_FIXTURE(Fixture, "generation: cancel between prompt slices") {
  Job job = test_job(record, {1, 2, 3, 4, 5, 6}, 100);
  auto state = job.state;
  shared.before_step = [&](int number) { state->cancelled = number == 1; };
  run(std::move(job), 2);
  CHECK(shared.forwards == 2);
  CHECK(record.events.size() == 2);
  CHECK(record.last().reason == FinishReason::cancelled);
}

TEST_CASE_FIXTURE(Fixture, "generation: cancelled before it starts, only finished is delivered") {
  Job job = test_job(record);
  job.state->cancelled = true;
  run(std::move(job));
  CHECK(shared.forwards == 0);
  CHECK(record.events.size() == 1);
  CHECK(record.last().reason == FinishReason::cancelled);
}

TEST_CASE_FIXTURE(Fixture, "generation: what a forward throws becomes the request's error") {
  const auto error_of = [this](std::function<void(int)> fail) {
    record.events.clear();
    shared.forwards = 0;
    shared.before_step = std::move(fail);
    run(test_job(record, {1}, 10));
    CHECK(record.last().reason == FinishReason::error);
    REQUIRE(record.last().error);
    return *record.last().error;
  };
  const auto at_two = [](const auto& exception) {
    return [exception](int number) {
      if (number == 2) throw exception;
    };
  };
  CHECK(error_of(at_two(Error(ErrorCode::out_of_memory, "[store] full"))).code() ==
        ErrorCode::out_of_memory);
  CHECK(record.ids() == std::vector<TokenId>{2, 3});
  CHECK(error_of(at_two(std::bad_alloc())).code() == ErrorCode::out_of_memory);
  CHECK(error_of(at_two(std::runtime_error("boom"))).code() == ErrorCode::internal);
  CHECK(std::string(record.last().error->what()) == "[engine] boom");
  CHECK(error_of(at_two(3)).code() == ErrorCode::internal);
}

TEST_CASE_FIXTURE(Fixture, "generation: NaN logits fail their request") {
  shared.edit_logits = [](int number, std::span<float> logits) {
    if (number == 1) logits[3] = NAN;
  };
  run(test_job(record, {1, 2}, 10));
  CHECK(record.last().reason == FinishReason::error);
  CHECK(std::string(record.last().error->what()).find("position 3") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "generation: a callback that throws ends its own request") {
  for (const Event::Kind kind : {Event::Kind::started, Event::Kind::token, Event::Kind::finished}) {
    record.events.clear();
    record.on_event = [kind](const Event& event) {
      if (event.kind == kind) throw std::runtime_error("no");
    };
    Job job = test_job(record, {1}, 3);
    auto state = job.state;
    run(std::move(job));
    state->wait();
    if (kind == Event::Kind::finished) continue;
    CHECK(record.last().reason == FinishReason::error);
    CHECK(std::string(record.last().error->what()) == "[callback] threw: no");
  }
}
