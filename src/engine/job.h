#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "paceline/engine.h"
#include "paceline/request.h"
#include "sampling/stop_matcher.h"

namespace paceline {

/// What a handle and the engine thread share about a request.
struct RequestHandle::State {
  std::atomic<bool> cancelled = false;

  void finish() {
    const std::lock_guard lock(mutex);
    finished = true;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return finished; });
  }

 private:
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false;  // under mutex
};

}  // namespace paceline

namespace paceline::engine {

using Clock = std::chrono::steady_clock;

/// Turns the ids of one answer into text, a piece at a time.
struct TextSource {
  std::function<std::string(TokenId)> push;  ///< text that became final with this id
  std::function<std::string()> finish;       ///< what was still held back
};

/// A checked request: everything the engine thread needs.
struct Job {
  std::vector<TokenId> prompt;  ///< never empty
  bool prompt_repaired = false;
  SamplingOptions sampling;
  uint64_t seed = 0;
  int32_t tokens_max = 1;        ///< >= 1; prompt + tokens_max fits the context
  int32_t vocab_size = 0;        ///< ids that may be drawn; logits beyond are padding
  std::vector<TokenId> end_ids;  ///< ascending; empty when ends are ignored
  int32_t logprobs = -1;
  sampling::StopMatcher stops{{}};
  TextSource text;
  EventCallback on_event;
  std::shared_ptr<RequestHandle::State> state;  // shared with the caller's handle
  Clock::time_point submitted = Clock::now();
};

}  // namespace paceline::engine
