#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <variant>
#include <vector>

#include "engine/executor.h"
#include "engine/job.h"

namespace paceline::engine {

/// The engine thread: it builds, runs and destroys the executor, and serves jobs in order, one at a
/// time.
class Worker {
 public:
  static constexpr std::size_t kWaitingMax = 64;

  /// `make` runs on the new thread; waits for it and rethrows what it throws.
  Worker(const std::function<std::unique_ptr<Executor>()>& make, int32_t prefill_tokens);
  /// Cancels what runs and what waits, delivers the finished events, joins.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Any thread. Throws Error{out_of_memory} when kWaitingMax jobs wait.
  void submit(Job job);
  /// Runs `task` on the engine thread when its turn comes and returns when it has ended; rethrows
  /// what it throws. Throws like submit().
  void call(std::function<void(Executor&)> task);

 private:
  using Task = std::packaged_task<void(Executor&)>;
  using Work = std::variant<Job, Task>;

  void push(Work work);
  void serve(const std::stop_token& stop, Executor& executor);
  std::optional<Work> next(const std::stop_token& stop);
  void run(const std::stop_token& stop, Executor& executor, Job job);
  void finish_cancelled(bool all, Executor& executor);

  int32_t prefill_tokens_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Work> waiting_;  // under mutex_
  std::jthread thread_;       // last: it uses the members above
};

}  // namespace paceline::engine
