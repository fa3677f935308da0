/// Speed of the products and of attention against the machine's own limits of the same run:
///   bench_kernels [--threads=N] [--benchmark_filter=...]
/// With one thread the clock is that thread's CPU time, which a busy machine disturbs less; else it
/// is wall time. Names: product/<format>/<numerics>/<isa>/N:../K:../T:rows; the weights of one call
/// follow those of another until 256 MB, so that they come from memory as in a decode step.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/linear_kernel.h"
#include "kernels/linear_weight.h"
#include "kernels/packed_test_support.h"
#include "kernels/panel.h"
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

LinearArgs arguments(const LinearWeight& weight, const uint8_t* tiles, const std::vector<float>& x,
                     std::vector<float>& y) {
  const LinearWeight::Impl& w = weight.impl();
  return {.x = x.data(),
          .panel = nullptr,
          .layout = &w.layout,
          .tiles = tiles,
          .tile_bytes = w.layout.tile_bytes(w.inputs),
          .chosen = nullptr,
          .bias = nullptr,
          .residual = nullptr,
          .out = y.data(),
          .out_stride = w.outputs,
          .rows = static_cast<int64_t>(x.size()) / w.inputs,
          .inputs = w.inputs,
          .outputs = w.outputs};
}

void read_bandwidth(benchmark::State& state) {
  const AlignedBytes memory(kColdBytes);
  std::memset(memory.data(), 1, kColdBytes);
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

/// Chains of fused multiply-adds in registers.
void fma_peak(benchmark::State& state) {
  constexpr int64_t kRows = 24, kInputs = 64, kOutputs = 96;
  const auto w = random_floats(kInputs * kOutputs, 1);
  const auto weight = LinearWeight::pack(context(), testing::stored(w, kOutputs, kInputs));
  const auto x = random_floats(kRows * kInputs, 2);
  for (auto _ : state) {
    context().pool->parallel_for(context().pool->size(), 1, [&](int64_t, int64_t) {
      std::vector<float> y(kRows * kOutputs);
      const LinearArgs args = arguments(weight, weight.impl().tiles.get(), x, y);
      for (int i = 0; i < 2000; ++i) linear_table(context().isa).linear(args, 0, kOutputs / 16);
    });
  }
  const auto flops = 2.0 * kRows * kInputs * kOutputs * 2000 * context().pool->size();
  state.counters["FLOP/s"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate);
}

struct Product {
  testing::FormatCase format;
  Numerics numerics;
  Isa isa;
};

void run_product(benchmark::State& state, const Product& product) {
  const int64_t outputs = state.range(0), inputs = state.range(1), rows = state.range(2);
  Context ctx = context();
  ctx.isa = product.isa;
  const auto tensor = testing::random_tensor(product.format, outputs, inputs, 1);
  const auto weight = LinearWeight::pack(ctx, tensor->tensor);
  const int64_t bytes = weight.resident_bytes();
  const int64_t copies = std::max<int64_t>(1, kColdBytes / bytes);
  const AlignedBytes weights(copies * bytes);
  for (int64_t i = 0; i < copies; ++i) {
    std::memcpy(weights.data() + i * bytes, weight.impl().tiles.get(),
                static_cast<std::size_t>(bytes));
  }
  const auto x = random_floats(static_cast<std::size_t>(rows * inputs), 1);
  std::vector<float> y(static_cast<std::size_t>(rows * outputs));
  int64_t at = 0;
  for (auto _ : state) {
    LinearArgs args = arguments(weight, weights.data() + at * bytes, x, y);
    packed::Panel panel;
    if (product.numerics == Numerics::fast && weight.impl().layout.codes) {
      panel = make_panel(ctx, x.data(), rows, inputs);
      args.panel = &panel;
    }
    ctx.pool->parallel_for(weight.impl().tile_count(), 1, [&](int64_t begin, int64_t end) {
      linear_table(product.isa).linear(args, begin, end);
    });
    at = (at + 1) % copies;
  }
  const auto count = static_cast<double>(state.iterations());
  const auto products = static_cast<double>(rows * inputs * outputs);
  state.SetBytesProcessed(state.iterations() * bytes);
  state.counters["OP/s"] = benchmark::Counter(2 * products * count, benchmark::Counter::kIsRate);
}

void shapes(benchmark::internal::Benchmark* b) {
  for (const int64_t rows : {1, 2, 4, 8, 16, 64, 512}) b->Args({1536, 1536, rows});
  for (const int64_t rows : {1, 4})
    b->Args({576, 576, rows})->Args({1536, 576, rows})->Args({576, 1536, rows});
  b->ArgNames({"N", "K", "T"});
  set_clock(b);
}

void register_products() {
  using blocks::Encoding;
  for (const Isa isa : testing::machine_isas()) {
    if (isa == Isa::generic) continue;
    for (const Encoding encoding : {Encoding::q4_k, Encoding::q6_k, Encoding::q4_1, Encoding::q5_0,
                                    Encoding::q8_0, Encoding::bf16, Encoding::f32}) {
      for (const Numerics numerics : {Numerics::fast, Numerics::exact}) {
        const Product product{{.encoding = encoding}, numerics, isa};
        if (numerics == Numerics::fast && blocks::info(encoding).block_values == 1) continue;
        const std::string label = "product/" + product.format.text() + "/" +
                                  std::string(name(numerics)) + "/" + std::string(name(isa));
        shapes(benchmark::RegisterBenchmark(
            label.c_str(), [product](benchmark::State& state) { run_product(state, product); }));
      }
    }
  }
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
  register_products();
  for (const Isa isa : kernels::testing::machine_isas()) {
    if (isa == Isa::generic) continue;
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
