#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/executor.h"
#include "engine/job.h"
#include "sampling/row_sampler.h"

namespace paceline::engine {

/// One request from its first prompt slice to its finished event. Engine thread only. Whatever
/// fails, in the model or in the callback, ends this request with an event and never leaves step().
class Generation {
 public:
  /// `executor` must outlive it. prefill_tokens >= 1.
  Generation(Job job, Executor& executor, int32_t prefill_tokens);

  bool done() const { return done_; }
  /// One forward: a prompt slice or one token. Looks at the cancel flag first.
  void step();
  /// Delivers `finished` with reason cancelled, unless done.
  void cancel();

 private:
  void advance();
  void start();
  std::span<const float> forward(std::span<const TokenId> tokens, bool wants_logits);
  void take(std::span<const float> logits);
  void emit(const Event& event);
  void finish(FinishReason reason, std::optional<Error> error = {});
  std::string remaining_text(FinishReason& reason);
  Usage usage() const;
  Timings timings() const;

  Job job_;
  Executor& executor_;
  int32_t prefill_tokens_;
  sampling::RowSampler sampler_;
  std::unique_ptr<ExecutorSequence> sequence_;
  bool started_ = false;
  bool done_ = false;
  std::size_t prefilled_ = 0;
  TokenId last_ = 0;
  int32_t completion_tokens_ = 0;
  Clock::time_point started_at_;
  Clock::time_point first_token_at_;
  Clock::time_point last_token_at_;
};

}  // namespace paceline::engine
