#include "cli/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <vector>

namespace paceline::cli {
namespace {

constexpr int kPasses = 5;
constexpr std::size_t kHugePage = 2 << 20;

struct Free {
  void operator()(uint64_t* words) const { std::free(words); }
};
using Words = std::unique_ptr<uint64_t, Free>;

/// Ones on huge pages where the system grants them: that is where weights lie.
Words make_words(std::size_t count) {
  const std::size_t bytes = (count * sizeof(uint64_t) + kHugePage - 1) / kHugePage * kHugePage;
  Words words(static_cast<uint64_t*>(std::aligned_alloc(kHugePage, bytes)));
  if (!words) {
    throw std::bad_alloc();
  }
  madvise(words.get(), bytes, MADV_HUGEPAGE);
  std::fill_n(words.get(), count, 1);
  return words;
}

/// Eight independent sums, so that the adds never wait for each other.
uint64_t sum(std::span<const uint64_t> words) {
  std::array<uint64_t, 8> sums{};
  for (std::size_t i = 0; i + sums.size() <= words.size(); i += sums.size()) {
    for (std::size_t lane = 0; lane < sums.size(); ++lane) {
      sums[lane] += words[i + lane];
    }
  }
  uint64_t total = 0;
  for (const uint64_t lane : sums) {
    total += lane;
  }
  return total;
}

/// Seconds in which every thread reads its share once.
double pass(std::span<const uint64_t> words, std::size_t threads, std::atomic<uint64_t>& sink) {
  const std::size_t share = words.size() / threads;
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&, i] { sink += sum(words.subspan(i * share, share)); });
    }
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

double read_bandwidth(std::size_t bytes, int32_t threads) {
  const std::size_t size = bytes / sizeof(uint64_t);
  const Words memory = make_words(size);
  const std::span<const uint64_t> words(memory.get(), size);
  const auto count = static_cast<std::size_t>(std::max(threads, 1));
  std::atomic<uint64_t> sink = 0;
  double best = 1e300;
  for (int i = 0; i < kPasses; ++i) {
    best = std::min(best, pass(words, count, sink));
  }
  // Uses what was summed, so that the reads stay.
  return sink.load() > 0 ? static_cast<double>(words.size() * sizeof(uint64_t)) / best : 0;
}

}  // namespace paceline::cli
