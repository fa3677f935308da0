/// Speed of the f32 products and of attention against the machine's own limits of the same run:
///   bench_kernels [--threads=N] [--benchmark_filter=...]
/// With one thread the clock is that thread's CPU time, which a busy machine disturbs less; else it
/// is wall time. Arguments of linear/N/K/T; the weights of one call follow those of another until
/// 256 MB, so that they come from memory as in a decode step. isa:<name> picks an instruction set,
/// threads follow the machine.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/linear_kernel.h"
#include "kernels/linear_weight.h"
#include "kernels/test_support.h"

namespace paceline::kernels::bench {
void attend_call(benchmark::State& state, const Context& ctx);
void attend_shapes(benchmark::internal::Benchmark* b);
}  // namespace paceline::kernels::bench

namespace {

using namespace paceline;
using namespace paceline::kernels;
using paceline::kernels::testing::random_floats;

constexpr int64_t kColdBytes = int64_t{256} << 20;

int& thread_count() {
  static int count = 0;
  return count;
}

const Context& context() {
  static const Context ctx = make_context(thread_count(), detect_isa(), false);
  return ctx;
}

void set_clock(benchmark::internal::Benchmark* b) {
  if (context().pool->size() > 1) b->UseRealTime();
  b->Unit(benchmark::kMicrosecond);
}

void read_bandwidth(benchmark::State& state) {
  const AlignedFloats memory(kColdBytes / 4);
  const auto* words = reinterpret_cast<const uint64_t*>(memory.data());
  for (auto _ : state) {
    context().pool->parallel_for(kColdBytes / 8, 4096, [&](int64_t begin, int64_t end) {
      uint64_t sum[8] = {};
      for (int64_t i = begin; i < end; i += 8) {
        for (int j = 0; j < 8; ++j) sum[j] += words[i + j];
      }
      for (const uint64_t s : sum) benchmark::DoNotOptimize(s);
    });
  }
  state.SetBytesProcessed(state.iterations() * kColdBytes);
}

/// The register tile from L1: no more than this can be had.
void fma_peak(benchmark::State& state) {
  const int64_t rows = 24, inputs = 64, outputs = 96;
  const AlignedFloats x(rows * inputs * 8), w(outputs * inputs * 8), y(rows * outputs * 8);
  for (auto _ : state) {
    context().pool->parallel_for(context().pool->size(), 1, [&](int64_t begin, int64_t) {
      const LinearArgs args{x.data() + begin * rows * inputs,
                            w.data() + begin * outputs * inputs,
                            nullptr,
                            nullptr,
                            y.data() + begin * rows * outputs,
                            rows,
                            inputs,
                            outputs};
      for (int i = 0; i < 2000; ++i) linear_table(context().isa).linear(args, 0, outputs / 16);
    });
  }
  const auto flops = 2.0 * rows * inputs * outputs * 2000 * context().pool->size();
  state.counters["FLOP/s"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate);
}

void linear_product(benchmark::State& state, Isa isa) {
  const int64_t outputs = state.range(0), inputs = state.range(1), rows = state.range(2);
  const int64_t tiles = (outputs + 15) / 16;
  const int64_t copies = std::max<int64_t>(1, kColdBytes / (tiles * 16 * inputs * 4));
  const AlignedFloats weights(copies * tiles * 16 * inputs);
  const auto x = random_floats(static_cast<std::size_t>(rows * inputs), 1);
  std::vector<float> y(static_cast<std::size_t>(rows * outputs));
  int64_t at = 0;
  for (auto _ : state) {
    const LinearArgs args{x.data(), weights.data() + at * tiles * 16 * inputs,
                          nullptr,  nullptr,
                          y.data(), rows,
                          inputs,   outputs};
    context().pool->parallel_for(
        tiles, 1, [&](int64_t begin, int64_t end) { linear_table(isa).linear(args, begin, end); });
    at = (at + 1) % copies;
  }
  const auto count = static_cast<double>(state.iterations());
  const auto products = static_cast<double>(rows * inputs * outputs);
  state.SetBytesProcessed(state.iterations() * tiles * 16 * inputs * 4);
  state.counters["FLOP/s"] = benchmark::Counter(2 * products * count, benchmark::Counter::kIsRate);
}

void shapes(benchmark::internal::Benchmark* b) {
  for (const int64_t rows : {1, 2, 4, 8, 16, 64, 512}) {
    b->Args({576, 1536, rows})->Args({1536, 8960, rows});
    if (rows < 512) b->Args({49152, 576, rows});
  }
  b->ArgNames({"N", "K", "T"});
  set_clock(b);
}

/// Takes "--threads=N" out of the arguments.
void read_threads(int& argc, char** argv) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--threads=", 10) == 0) {
      thread_count() = std::atoi(argv[i] + 10);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
}

}  // namespace

int main(int argc, char** argv) {
  read_threads(argc, argv);
  set_clock(benchmark::RegisterBenchmark("read_bandwidth", read_bandwidth));
  set_clock(benchmark::RegisterBenchmark("fma_peak", fma_peak));
  for (const Isa isa : kernels::testing::machine_isas()) {
    if (isa == Isa::generic) continue;
    const auto label = "linear_" + std::string(name(isa));
    shapes(benchmark::RegisterBenchmark(label.c_str(), linear_product, isa));
    Context ctx = context();
    ctx.isa = isa;
    const auto attend_label = "attend_" + std::string(name(isa));
    auto* attend = benchmark::RegisterBenchmark(
        attend_label.c_str(), [ctx](benchmark::State& state) { bench::attend_call(state, ctx); });
    bench::attend_shapes(attend);
    set_clock(attend);
  }
  set_clock(benchmark::RegisterBenchmark("read_bandwidth_again", read_bandwidth));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
