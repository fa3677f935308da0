/// Time of one row on one core: bench_sampling [--benchmark_filter=...]. Rows of 151,936 logits:
/// "peaked" like a chat model's (normal with deviation 2.5, a few ids far above), "wide" normal
/// with deviation 4, "flat" with deviation 1 (the nucleus holds most ids). The clock is the
/// thread's CPU time, which a busy machine disturbs less.
#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "sampling/block_ops.h"
#include "sampling/logit_row.h"
#include "sampling/row_sampler.h"

namespace {

using namespace paceline;
using namespace paceline::sampling;

constexpr std::size_t kVocab = 151936;
constexpr std::array kRows{"peaked", "wide", "flat"};

std::vector<float> make_row(int64_t kind) {
  std::mt19937_64 rng(7);
  std::normal_distribution<float> normal(0, std::array{2.5F, 4.0F, 1.0F}[kind]);
  std::vector<float> row(kVocab);
  for (float& x : row) x = normal(rng);
  if (kind == 0) {
    for (int i = 0; i < 40; ++i) row[rng() % kVocab] = 20.0F - 0.25F * static_cast<float>(i);
  }
  return row;
}

SamplingOptions settings(float temperature, float top_p) {
  SamplingOptions options;
  options.temperature = temperature;
  options.top_p = top_p;
  return options;
}

void draw(benchmark::State& state, float temperature, float top_p, int32_t logprobs) {
  const std::vector<float> row = make_row(state.range(0));
  state.SetLabel(kRows[static_cast<std::size_t>(state.range(0))]);
  const RowSampler sampler(settings(temperature, top_p), 1, {});
  int64_t position = 0;
  for (auto _ : state) {
    const TokenId id = sampler.draw(row, ++position).id;
    if (logprobs > 0) benchmark::DoNotOptimize(with_logprobs(row, id, logprobs, position));
    benchmark::DoNotOptimize(id);
  }
}

// One of BlockOps over all blocks of a row.
template <class Run>
void over_blocks(benchmark::State& state, const Run& run) {
  const std::vector<float> values = make_row(1);
  const LogitRow row(values, 0);
  for (auto _ : state) {
    for (std::size_t b = 0; b < row.blocks(); ++b) run(row, b);
  }
}

void add_block_ops(const std::string& name, const BlockOps* ops) {
  if (ops == nullptr) return;
  const auto add = [&](const char* op, auto run) {
    benchmark::RegisterBenchmark((std::string(op) + "_" + name).c_str(),
                                 [run](benchmark::State& state) { over_blocks(state, run); })
        ->Unit(benchmark::kMicrosecond);
  };
  add("scan", [ops](const LogitRow& row, std::size_t b) {
    std::array<float, kVocab / kBlock + 1> best;
    if (b == 0) ops->scan(row.logits(), best.data());
    benchmark::DoNotOptimize(best);
  });
  add("column_max", [ops](const LogitRow& row, std::size_t b) {
    std::array<float, kColumns> best;
    ops->column_max(row.block(b), best.data());
    benchmark::DoNotOptimize(best);
  });
  add("sum", [ops](const LogitRow& row, std::size_t b) {
    if (b == 0) benchmark::DoNotOptimize(ops->sum(row.maxima(), 0.7F));
  });
  add("weigh", [ops](const LogitRow& row, std::size_t b) {
    Weighed weighed;
    ops->weigh(row.block(b), row.max(), 0.7F, weighed);
    benchmark::DoNotOptimize(weighed);
  });
  add("hash", [ops](const LogitRow&, std::size_t b) {
    Hashed hashed;
    ops->hash({1, 2}, static_cast<uint32_t>(b * kBlock), hashed);
    benchmark::DoNotOptimize(hashed);
  });
}

void add_draw(const std::string& name, float temperature, float top_p, int32_t logprobs) {
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { draw(state, temperature, top_p, logprobs); })
      ->DenseRange(0, kRows.size() - 1)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  add_draw("greedy", 0, 1, 0);
  add_draw("draw", 1, 1, 0);
  add_draw("top_p", 0.7F, 0.95F, 0);
  add_draw("top_p_logprobs", 0.7F, 0.95F, 5);
  add_draw("top_p_logprobs_T1", 1, 0.95F, 5);
  add_block_ops("generic", &generic_block_ops());
  add_block_ops("avx2", avx2_block_ops());
  add_block_ops("avx512", avx512_block_ops());
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
