/// Attention over bf16 pages of 64 tokens: attend/<context>/<tokens>/<heads>/<kv heads>/<head dim>.
/// FLOP/s counts 4 * visible keys * head dim per query head, B/s the keys and values read once.
/// Registered by linear_bench.cpp.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/attend_run.h"
#include "kernels/attend_test_support.h"

namespace paceline::kernels::bench {

void attend_call(benchmark::State& state, const Context& ctx) {
  const auto context = static_cast<int>(state.range(0)), tokens = static_cast<int>(state.range(1));
  const auto heads = static_cast<int>(state.range(2)), kv = static_cast<int>(state.range(3));
  const auto dim = static_cast<int>(state.range(4));
  const RowTable table{{0, tokens, context - tokens}};
  const KvDesc shape{.encoding = KvEncoding::bf16,
                     .page_tokens = 64,
                     .kv_heads = kv,
                     .key_dim = dim,
                     .value_dim = dim,
                     .rows = {}};
  const testing::Pages pages(table, shape, 0, 0x3c);
  const auto q = testing::random_floats(static_cast<std::size_t>(tokens) * heads * dim, 1);
  std::vector<float> out(q.size());
  const auto desc = pages.desc();
  AttendSpec spec;
  spec.scale = 0.125F;
  for (auto _ : state) run_attend({ctx, table, *desc, spec, q.data(), out.data(), heads});
  const auto count = static_cast<double>(state.iterations());
  const double keys = (context - tokens) + (tokens + 1) / 2.0;
  state.counters["FLOP/s"] =
      benchmark::Counter(4.0 * keys * tokens * heads * dim * count, benchmark::Counter::kIsRate);
  state.SetBytesProcessed(state.iterations() * context * kv * dim * 4);
}

void attend_shapes(benchmark::internal::Benchmark* b) {
  for (const auto& [context, tokens] : {std::pair{512, 1}, {4096, 1}, {4096, 4}, {512, 512}}) {
    b->Args({context, tokens, 9, 3, 64})->Args({context, tokens, 12, 2, 128});
  }
  b->ArgNames({"context", "T", "heads", "kv", "dim"});
}

}  // namespace paceline::kernels::bench
