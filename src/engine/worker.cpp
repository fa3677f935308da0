#include "engine/worker.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <string>
#include <utility>

#include "engine/generation.h"

namespace paceline::engine {

Worker::Worker(const std::function<std::unique_ptr<Executor>()>& make, int32_t prefill_tokens)
    : prefill_tokens_(prefill_tokens) {
  std::promise<void> ready;
  std::future<void> made = ready.get_future();
  thread_ =
      std::jthread([this, &make, ready = std::move(ready)](const std::stop_token& stop) mutable {
        std::unique_ptr<Executor> executor;
        try {
          executor = make();
        } catch (...) {
          ready.set_exception(std::current_exception());
          return;
        }
        ready.set_value();
        serve(stop, *executor);
      });
  made.get();
}

Worker::~Worker() = default;  // jthread requests the stop and joins before the queue goes

void Worker::submit(Job job) { push(std::move(job)); }

void Worker::call(std::function<void(Executor&)> task) {
  Task work(std::move(task));
  std::future<void> done = work.get_future();
  push(std::move(work));
  done.get();
}

void Worker::push(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kWaitingMax) {
      throw Error(ErrorCode::out_of_memory,
                  "[engine] " + std::to_string(waiting_.size()) + " requests wait, at most " +
                      std::to_string(kWaitingMax) + " may: try again when one has finished");
    }
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void Worker::serve(const std::stop_token& stop, Executor& executor) {
  while (std::optional<Work> work = next(stop)) {
    if (auto* job = std::get_if<Job>(&*work)) {
      run(stop, executor, std::move(*job));
    } else {
      std::get<Task> (*work)(executor);
    }
  }
  finish_cancelled(true, executor);
}

std::optional<Worker::Work> Worker::next(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); }) || stop.stop_requested())
    return {};
  Work work = std::move(waiting_.front());
  waiting_.pop_front();
  return work;
}

void Worker::run(const std::stop_token& stop, Executor& executor, Job job) {
  Generation generation(std::move(job), executor, prefill_tokens_);
  while (!generation.done()) {
    if (stop.stop_requested()) return generation.cancel();
    finish_cancelled(false, executor);
    generation.step();
  }
}

// Waiting jobs that were cancelled (or all of them) end now rather than when their turn comes.
void Worker::finish_cancelled(bool all, Executor& executor) {
  const auto stays = [all](const Work& work) {
    const Job* job = std::get_if<Job>(&work);
    return !all && (job == nullptr || !job->state->cancelled);
  };
  std::vector<Work> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto first = std::stable_partition(waiting_.begin(), waiting_.end(), stays);
    ended.assign(std::make_move_iterator(first), std::make_move_iterator(waiting_.end()));
    waiting_.erase(first, waiting_.end());
  }
  for (Work& work : ended) {
    if (auto* job = std::get_if<Job>(&work))
      Generation(std::move(*job), executor, prefill_tokens_).cancel();
  }
}

}  // namespace paceline::engine
