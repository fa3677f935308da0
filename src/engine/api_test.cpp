// The public API over a fake model with a vocabulary of a few tokens.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "engine/engine_impl.h"
#include "engine/fake_executor.h"
#include "engine/test_job.h"
#include "text/test_vocab.h"

using namespace paceline;
using paceline::engine::FakeExecutor;
using paceline::engine::Record;

namespace {

// Byte-level vocabulary: id = byte below 256, 262 = <|im_end|>, the end. The model counts up.
struct Fixture {
  FakeExecutor::Shared shared;
  std::unique_ptr<Engine> engine;
  Record record;

  Fixture() {
    build("{% for m in messages %}<|im_start|>{{ m.role }}:{{ m.content }}<|im_end|>{% endfor %}");
  }

  void build(const std::string& source) {
    text::TestVocab vocab = text::byte_level_vocab();
    auto impl = std::make_unique<Engine::Impl>();
    impl->text.tokenizer = text::Tokenizer::from_gguf(vocab.view());
    impl->text.end_ids = {262};
    if (!source.empty())
      impl->text.chat_template = std::make_shared<const text::ChatTemplate>(source);
    impl->info.context = 64;
    shared.vocab = impl->text.tokenizer->vocab_size();
    impl->worker = std::make_unique<engine::Worker>(
        [this] { return std::make_unique<FakeExecutor>(shared); }, 512);
    engine = Engine::Impl::make(std::move(impl));
  }

  Request raw(const std::string& prompt, int32_t tokens_max = 3) {
    Request request;
    request.prompt = prompt;
    request.sampling.temperature = 0;
    request.tokens_max = tokens_max;
    return request;
  }

  const Event& run(const Request& request) {
    record.events.clear();
    engine->generate(request, [this](const Event& event) { record.events.push_back(event); });
    return record.last();
  }

  ErrorCode refusal(const Request& request, const std::string& part) {
    try {
      engine->submit(request, {});
    } catch (const Error& error) {
      CAPTURE(error.what());
      CHECK(std::string(error.what()).find(part) != std::string::npos);
      return error.code();
    }
    FAIL("expected a refusal");
    return ErrorCode::internal;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "api: a raw prompt is answered and control tokens in it count") {
  const Event& last = run(raw("<|im_start|>A"));
  CHECK(last.reason == FinishReason::length);
  CHECK(last.usage.prompt_tokens == 2);
  CHECK(record.text() == "BCD");
}

TEST_CASE_FIXTURE(Fixture, "api: control-token literals of messages stay text") {
  Request request = raw("");
  request.messages = {{.role = "user", .content = "x<|im_end|>"}};
  run(request);
  int ends = 0;
  for (const TokenId id : shared.ids) ends += id == 262;
  CHECK(ends == 1);
  CHECK(engine->apply_template(request.messages) == "<|im_start|>user:x<|im_end|><|im_end|>");
}

TEST_CASE_FIXTURE(Fixture, "api: text that holds the guard is refused") {
  Request request = raw("");
  request.messages = {{.role = "user", .content = "a\xEF\xB7\x90"}};
  CHECK(refusal(request, "FDD0") == ErrorCode::invalid_argument);
}

TEST_CASE_FIXTURE(Fixture, "api: invalid UTF-8 is repaired and said, NUL bytes are ordinary") {
  CHECK(run(raw("a\xFF")).usage.prompt_repaired);
  CHECK_FALSE(run(raw("a")).usage.prompt_repaired);
  CHECK(run(raw(std::string("\0a", 2))).usage.prompt_tokens == 2);
  Request request = raw("");
  request.messages = {{.role = "user", .content = "\xC3(" + std::string(1, '\0')}};
  CHECK(run(request).usage.prompt_repaired);
}

TEST_CASE_FIXTURE(Fixture, "api: the context limit, with both numbers") {
  CHECK(refusal(raw(std::string(64, 'a')),
                "found 64 tokens, expected fewer than the context of 64") ==
        ErrorCode::context_overflow);
  const Event& last = run(raw(std::string(62, 'a'), 100));
  CHECK(last.reason == FinishReason::length);
  CHECK(last.usage.completion_tokens == 2);
  CHECK(run(raw(std::string(60, 'a'), 0)).usage.completion_tokens == 4);
}

TEST_CASE_FIXTURE(Fixture, "api: requests out of range are refused by field") {
  Request request = raw("a");
  request.tokens_max = -1;
  CHECK(refusal(request, "tokens_max is -1") == ErrorCode::invalid_argument);
  request = raw("a");
  request.logprobs = 21;
  CHECK(refusal(request, "logprobs is 21") == ErrorCode::invalid_argument);
  request = raw("a");
  request.sampling.top_p = 0;
  CHECK(refusal(request, "top_p is 0") == ErrorCode::invalid_argument);
  request = raw("a");
  request.stop = {""};
  CHECK(refusal(request, "stop string 0 is empty") == ErrorCode::invalid_argument);
  CHECK(refusal(raw(""), "empty prompt") == ErrorCode::invalid_argument);
  request = raw("a");
  request.prompt_ids = {1};
  CHECK(refusal(request, "more than one") == ErrorCode::invalid_argument);
  request = raw("");
  request.prompt_ids = {1, 100000};
  CHECK(refusal(request, "prompt_ids[1] is 100000") == ErrorCode::invalid_argument);
}

TEST_CASE_FIXTURE(Fixture, "api: messages without a template say how to give one") {
  engine.reset();
  build("");
  Request request = raw("");
  request.messages = {{.role = "user", .content = "x"}};
  CHECK(refusal(request, "--chat-template FILE") == ErrorCode::template_error);
  CHECK(refusal(request, "--raw") == ErrorCode::template_error);
}

TEST_CASE_FIXTURE(Fixture, "api: a seed is drawn, reported and gives the same answer again") {
  Request request = raw("a", 8);
  request.sampling = {};
  request.sampling.temperature = 5;
  const uint64_t seed = run(request).usage.seed;
  CHECK(record.events.front().usage.seed == seed);
  const std::string text = record.text();
  request.sampling.seed = seed;
  run(request);
  CHECK(record.text() == text);
}

TEST_CASE_FIXTURE(Fixture, "api: bytes of a code point that never completed come with the end") {
  shared.edit_logits = [](int, std::span<float> logits) { logits[0xC3] = 50; };
  run(raw("a", 1));
  CHECK(record.events[1].text.empty());
  CHECK(record.last().text == "\uFFFD");
}

TEST_CASE_FIXTURE(Fixture, "api: tokenize, detokenize and token text") {
  CHECK(engine->tokenize("<|im_end|>", true) == std::vector<TokenId>{262});
  CHECK(engine->tokenize("<|im_end|>", false).size() > 1);
  const std::vector<TokenId> ids = engine->tokenize("hello \xFF", false);
  CHECK(engine->detokenize(ids) == "hello \uFFFD");
  CHECK(engine->token_text(262) == "<|im_end|>");
}

TEST_CASE_FIXTURE(Fixture, "api: handles may be empty, cancelled twice and outlive their request") {
  const RequestHandle none;
  none.cancel();
  none.wait();
  const RequestHandle handle = engine->submit(raw("a"), {});
  handle.wait();
  handle.cancel();
  handle.cancel();
  handle.wait();
}
