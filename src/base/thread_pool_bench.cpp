/// What a busy neighbour costs: loops that read memory, on one thread and on a pool of two, while
/// another process spins on the second core (pinned there, and free to move).
///   bench_thread_pool [SECONDS per figure, default 1.5]
/// Prints loops per second and the pool's share of one thread's figure: medians of five runs each,
/// in turn.
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/thread_pool.h"

namespace {

using paceline::base::ThreadPool;
using Clock = std::chrono::steady_clock;

enum class Neighbour { none, pinned, free };

/// A child process that spins until this object goes.
class Spinner {
 public:
  explicit Spinner(Neighbour kind) {
    if (kind == Neighbour::none) return;
    child_ = fork();
    if (child_ != 0) return;
    if (kind == Neighbour::pinned) {
      cpu_set_t cpu;
      CPU_ZERO(&cpu);
      CPU_SET(1, &cpu);
      sched_setaffinity(0, sizeof(cpu), &cpu);
    }
    while (getppid() != 1) {
    }
    _exit(0);
  }
  ~Spinner() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

 private:
  pid_t child_ = 0;
};

constexpr int64_t kWords = int64_t{8} << 20;  // 64 MB, twice the largest cache

/// Loops of `words` words each, one after another through the memory, for `seconds`; per second.
double loops_per_second(ThreadPool& pool, const std::vector<uint64_t>& memory, int64_t words,
                        double seconds) {
  const auto start = Clock::now();
  const auto end =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  int64_t loops = 0, at = 0;
  for (; Clock::now() < end; ++loops) {
    const uint64_t* from = memory.data() + at;
    pool.parallel_for(words, 64, [&](int64_t first, int64_t last) {
      uint64_t sum[8] = {};
      for (int64_t i = first; i + 8 <= last; i += 8) {
        for (int j = 0; j < 8; ++j) sum[j] += from[i + j];
      }
      volatile uint64_t sink = 0;
      for (const uint64_t s : sum) sink = sink + s;
    });
    at = at + 2 * words <= kWords ? at + words : 0;
  }
  return static_cast<double>(loops) / std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(Neighbour kind, const char* label, int64_t words, double seconds,
             const std::vector<uint64_t>& memory) {
  const Spinner spinner(kind);
  ThreadPool one(1), two(2);
  std::vector<double> alone, pooled;
  for (int run = 0; run < 5; ++run) {
    alone.push_back(loops_per_second(one, memory, words, seconds));
    pooled.push_back(loops_per_second(two, memory, words, seconds));
  }
  std::printf("%-8s %5.0f us a loop  1 thread %8.0f/s  pool of 2 %8.0f/s  %.2fx (%.2f to %.2f)\n",
              label, 1e6 / median(alone), median(alone), median(pooled),
              median(pooled) / median(alone),
              *std::min_element(pooled.begin(), pooled.end()) / median(alone),
              *std::max_element(pooled.begin(), pooled.end()) / median(alone));
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1.5;
  const std::vector<uint64_t> memory(kWords, 1);
  for (const int64_t kilobytes : {1024, 4096, 16384}) {
    const int64_t words = kilobytes * 128;
    measure(Neighbour::none, "idle", words, seconds, memory);
    measure(Neighbour::pinned, "pinned", words, seconds, memory);
    measure(Neighbour::free, "free", words, seconds, memory);
  }
  return 0;
}
