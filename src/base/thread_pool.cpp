#include "base/thread_pool.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/assert.h"

namespace paceline::base {
namespace {

constexpr int kSpins =
    20000;  // about 200 us: a parked wake-up costs 20-200 us, kernels follow each other in less

/// Tells the core that this is a waiting loop.
void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

struct ThreadPool::Impl {
  std::atomic<uint32_t> epoch{0};  // bumped once per loop; workers wait for a change
  std::atomic<int> running{0};     // workers that have not finished the current loop
  std::atomic<bool> stopping{false};
  int64_t count = 0;
  int64_t step = 0;
  const std::function<void(int64_t, int64_t)>* body = nullptr;
  std::mutex error_mutex;
  std::exception_ptr error;
  std::vector<std::jthread> workers;  // last: joins before the rest goes away

  void run_range(int index) {
    const int64_t begin = std::min<int64_t>(count, index * step);
    const int64_t end = std::min<int64_t>(count, begin + step);
    if (begin >= end) return;
    try {
      (*body)(begin, end);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  }

  uint32_t wait_for_change(uint32_t seen) {
    for (int i = 0; i < kSpins; ++i) {
      const uint32_t now = epoch.load(std::memory_order_acquire);
      if (now != seen) return now;
      pause();
    }
    epoch.wait(seen, std::memory_order_acquire);
    return epoch.load(std::memory_order_acquire);
  }

  void work(int index) {
    uint32_t seen = 0;
    while (true) {
      seen = wait_for_change(seen);
      if (stopping.load(std::memory_order_acquire)) return;
      run_range(index);
      running.fetch_sub(1, std::memory_order_acq_rel);
      running.notify_one();
    }
  }

  void wait_for_workers() {
    for (int i = 0; i < kSpins; ++i) {
      if (running.load(std::memory_order_acquire) == 0) return;
      pause();
    }
    for (int left = running.load(std::memory_order_acquire); left != 0;
         left = running.load(std::memory_order_acquire)) {
      running.wait(left, std::memory_order_acquire);
    }
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  PACELINE_ASSERT(threads >= 1);
  for (int i = 1; i < threads; ++i) {
    impl_->workers.emplace_back([impl = impl_.get(), i] { impl->work(i); });
  }
}

ThreadPool::~ThreadPool() {
  impl_->stopping.store(true, std::memory_order_release);
  impl_->epoch.fetch_add(1, std::memory_order_release);
  impl_->epoch.notify_all();
  impl_->workers.clear();  // joins
}

int ThreadPool::size() const { return static_cast<int>(impl_->workers.size()) + 1; }

void ThreadPool::parallel_for(int64_t count, int64_t grain,
                              const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  const int64_t units = (count + grain - 1) / grain;
  const int64_t step = (units + size() - 1) / size() * grain;
  if (step >= count) {
    body(0, count);
    return;
  }
  impl_->count = count;
  impl_->step = step;
  impl_->body = &body;
  impl_->error = nullptr;
  impl_->running.store(size() - 1, std::memory_order_relaxed);
  impl_->epoch.fetch_add(1, std::memory_order_release);
  impl_->epoch.notify_all();
  impl_->run_range(0);
  impl_->wait_for_workers();
  if (impl_->error) std::rethrow_exception(impl_->error);
}

}  // namespace paceline::base
