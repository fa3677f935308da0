#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace paceline::base {

/// Workers that run one parallel loop at a time; the caller takes part as index 0.
/// Idle workers spin for a short while, then sleep on a futex, so an idle pool uses no CPU.
class ThreadPool {
 public:
  /// threads >= 1 counts the caller too.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;
  /// Splits [0, count) into size() contiguous ranges cut at multiples of `grain` and calls
  /// body(begin, end) once per non-empty range. The split never changes a result: every index is
  /// handled whole; while workers do not get their cores (JoinWatch) the caller runs all of it
  /// alone. Blocks until all are done. One caller at a time. An exception of any range is rethrown
  /// after all ranges have ended.
  void parallel_for(int64_t count, int64_t grain,
                    const std::function<void(int64_t, int64_t)>& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline::base
