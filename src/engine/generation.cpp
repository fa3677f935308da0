#include "engine/generation.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/assert.h"

namespace paceline::engine {
namespace {

double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// The error of the exception being handled.
Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::out_of_memory, "[engine] an allocation of the system failed"};
  } catch (const std::exception& error) {
    return {ErrorCode::internal, std::string("[engine] ") + error.what()};
  } catch (...) {
    return {ErrorCode::internal, "[engine] something that is no std::exception was thrown"};
  }
}

}  // namespace

Generation::Generation(Job job, Executor& executor, int32_t prefill_tokens)
    : job_(std::move(job)),
      executor_(executor),
      prefill_tokens_(prefill_tokens),
      sampler_(job_.sampling, job_.seed, job_.prompt) {}

void Generation::step() {
  if (done_) return;
  if (job_.state->cancelled) return finish(FinishReason::cancelled);
  try {
    advance();
  } catch (...) {
    finish(FinishReason::error, current_error());
  }
}

void Generation::cancel() {
  if (!done_) finish(FinishReason::cancelled);
}

void Generation::advance() {
  if (!started_) start();
  if (prefilled_ == job_.prompt.size()) return take(forward({&last_, 1}, true));
  const std::size_t left = job_.prompt.size() - prefilled_;
  const std::size_t count = std::min<std::size_t>(left, static_cast<std::size_t>(prefill_tokens_));
  const auto slice = std::span(job_.prompt).subspan(prefilled_, count);
  const std::span<const float> logits = forward(slice, count == left);
  prefilled_ += count;
  if (count == left) take(logits);
}

void Generation::start() {
  started_ = true;
  started_at_ = Clock::now();
  Event event;
  event.kind = Event::Kind::started;
  event.usage = usage();
  emit(event);
  sequence_ = executor_.new_sequence();
}

std::span<const float> Generation::forward(std::span<const TokenId> tokens, bool wants_logits) {
  const StepRow row{.sequence = sequence_.get(), .tokens = tokens, .wants_logits = wants_logits};
  const auto logits = executor_.step({&row, 1});
  return wants_logits ? logits.at(0) : std::span<const float>();
}

// The logits of the last evaluated token become the next token.
void Generation::take(std::span<const float> logits) {
  const auto vocab = static_cast<std::size_t>(job_.vocab_size);
  PACELINE_ASSERT(logits.size() >= vocab);
  logits = logits.first(vocab);
  const auto position = static_cast<int64_t>(job_.prompt.size()) + completion_tokens_;
  const TokenId id = sampler_.draw(logits, position).id;
  last_token_at_ = Clock::now();
  if (completion_tokens_ == 0) first_token_at_ = last_token_at_;
  if (std::binary_search(job_.end_ids.begin(), job_.end_ids.end(), id))
    return finish(FinishReason::stop);

  Event event;
  event.kind = Event::Kind::token;
  event.token.id = id;
  if (job_.logprobs >= 0)
    event.token = sampling::with_logprobs(logits, id, job_.logprobs, position);
  event.text = job_.stops.push(job_.text.push(id));
  sampler_.accept(id);
  last_ = id;
  ++completion_tokens_;
  emit(event);
  if (job_.stops.matched()) return finish(FinishReason::stop);
  if (completion_tokens_ == job_.tokens_max) finish(FinishReason::length);
}

void Generation::emit(const Event& event) {
  if (!job_.on_event) return;
  try {
    job_.on_event(event);
  } catch (const std::exception& error) {
    throw Error(ErrorCode::internal, std::string("[callback] threw: ") + error.what());
  } catch (...) {
    throw Error(ErrorCode::internal, "[callback] threw something that is no std::exception");
  }
}

// Text that was held back for a stop string or for the rest of a code point.
std::string Generation::remaining_text(FinishReason& reason) {
  if (job_.stops.matched()) return {};
  std::string text = job_.stops.push(job_.text.finish());
  if (job_.stops.matched() && reason == FinishReason::length) reason = FinishReason::stop;
  return text + job_.stops.finish();
}

void Generation::finish(FinishReason reason, std::optional<Error> error) {
  done_ = true;
  sequence_.reset();
  Event event;
  event.kind = Event::Kind::finished;
  event.usage = usage();
  event.timings = timings();
  try {
    event.text = remaining_text(reason);
    event.reason = reason;
    event.error = std::move(error);
    emit(event);
  } catch (...) {
    // The consumer of the last event failed; there is nobody left to tell.
    done_ = true;
  }
  job_.on_event = nullptr;  // what the callback holds is gone before wait() returns
  job_.state->finish();
}

Usage Generation::usage() const {
  return {.prompt_tokens = static_cast<int32_t>(job_.prompt.size()),
          .completion_tokens = completion_tokens_,
          .seed = job_.seed,
          .prompt_repaired = job_.prompt_repaired};
}

Timings Generation::timings() const {
  const Clock::time_point now = Clock::now();
  if (!started_)
    return {.queued_ms = ms_between(job_.submitted, now), .prompt_ms = 0, .decode_ms = 0};
  const bool drawn = last_token_at_ != Clock::time_point();
  return {.queued_ms = ms_between(job_.submitted, started_at_),
          .prompt_ms = ms_between(started_at_, drawn ? first_token_at_ : now),
          .decode_ms = drawn ? ms_between(first_token_at_, last_token_at_) : 0};
}

}  // namespace paceline::engine
