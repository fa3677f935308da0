#include "base/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <vector>

using paceline::base::ThreadPool;

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
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // past the spin phase
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double used_ms = 1000.0 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  CHECK(used_ms < 20.0);
}
