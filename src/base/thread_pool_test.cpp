#include "base/thread_pool.h"

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using paceline::base::ThreadPool;

namespace {

// User and system time of the whole process.
std::chrono::microseconds cpu_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace

TEST_CASE("parallel_for visits every index once for any count, grain and thread count") {
  for (int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 15, 16, 17, 1000}) {
      for (int64_t grain : {1, 16, 64}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
        pool.parallel_for(count, grain, [&](int64_t begin, int64_t end) {
          CHECK(begin % grain == 0);
          for (int64_t i = begin; i < end; ++i) visits[static_cast<size_t>(i)]++;
        });
        for (auto& v : visits) CHECK(v == 1);
      }
    }
  }
}

TEST_CASE("parallel_for rethrows after every range has ended and the pool stays usable") {
  ThreadPool pool(2);
  CHECK_THROWS_AS(pool.parallel_for(2, 1,
                                    [](int64_t begin, int64_t) {
                                      if (begin == 1) throw std::runtime_error("range 1");
                                    }),
                  std::runtime_error);
  std::atomic<int> sum{0};
  pool.parallel_for(100, 1, [&](int64_t b, int64_t e) { sum += static_cast<int>(e - b); });
  CHECK(sum == 100);
}

TEST_CASE("an idle pool uses no CPU") {
  ThreadPool pool(2);
  pool.parallel_for(2, 1, [](int64_t, int64_t) {});
  std::this_thread::sleep_for(50ms);  // past the spin phase
  const auto before = cpu_time();
  std::this_thread::sleep_for(300ms);
  // A worker that spins would use 300 ms; a tenth of that leaves room for the test program itself.
  CHECK(cpu_time() - before < 30ms);
}

TEST_CASE("parked workers wake") {
  ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> by_worker{0};
  // A pool may run single loops on the caller alone while the machine is busy, but not all of them.
  for (int loop = 0; loop < 500 && by_worker < 5; ++loop) {
    std::this_thread::sleep_for(5ms);  // past the spin phase
    std::atomic<int> visits{0};
    pool.parallel_for(2, 1, [&](int64_t begin, int64_t end) {
      visits += static_cast<int>(end - begin);
      if (std::this_thread::get_id() != caller) ++by_worker;
    });
    REQUIRE(visits == 2);
  }
  CHECK(by_worker == 5);
}
