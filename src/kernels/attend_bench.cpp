/// Attention over pages of 64 tokens:
///   attend_<isa>/<context>/<tokens>/<rows>/<heads>/<kv heads>/<head dim>/<encoding>
/// for `rows` sequences of `context` tokens, the last `tokens` of each as queries. Encoding: 0 f32,
/// 1 bf16, 2 f16. FLOP/s counts 4 * visible keys * head dim per query head, B/s the keys and values
/// read once. Calls follow each other over so many layers that 64 MB of keys and values lie between
/// two reads of one, at most 28. Registered by linear_bench.cpp.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/attend_run.h"
#include "kernels/attend_test_support.h"
#include "kernels/kv_pages.h"

namespace paceline::kernels::bench {
namespace {

constexpr int64_t kColdBytes = int64_t{64} << 20;
constexpr int64_t kLayersMax = 28;

RowTable rows_of(int rows, int tokens, int context) {
  RowTable table;
  for (int r = 0; r < rows; ++r) table.push_back({r * tokens, tokens, context - tokens});
  return table;
}

}  // namespace

void attend_call(benchmark::State& state, const Context& ctx) {
  const auto context = static_cast<int>(state.range(0)), tokens = static_cast<int>(state.range(1));
  const auto rows = static_cast<int>(state.range(2)), heads = static_cast<int>(state.range(3));
  const auto kv = static_cast<int>(state.range(4)), dim = static_cast<int>(state.range(5));
  const RowTable table = rows_of(rows, tokens, context);
  const KvDesc shape{.encoding = static_cast<KvEncoding>(state.range(6)),
                     .page_tokens = 64,
                     .kv_heads = kv,
                     .key_dim = dim,
                     .value_dim = dim,
                     .rows = {}};
  const int64_t bytes = int64_t{rows} * context * kv * dim * 2 * kv_item_bytes(shape.encoding);
  const int64_t layers = std::clamp<int64_t>(kColdBytes / bytes, 1, kLayersMax);
  std::vector<std::unique_ptr<testing::Pages>> pages;
  std::vector<KvDescPtr> descs;
  for (int64_t i = 0; i < layers; ++i) {
    pages.push_back(std::make_unique<testing::Pages>(table, shape, 0, 0x3c));
    descs.push_back(pages.back()->desc());
  }
  const auto q = testing::random_floats(static_cast<std::size_t>(rows) * tokens * heads * dim, 1);
  std::vector<float> out(q.size());
  AttendSpec spec;
  spec.scale = 0.125F;
  std::size_t layer = 0;
  for (auto _ : state) {
    run_attend({ctx, table, *descs[layer], spec, q.data(), out.data(), heads});
    layer = (layer + 1) % descs.size();
  }
  const double keys = (context - tokens) + (tokens + 1) / 2.0;
  state.counters["FLOP/s"] = benchmark::Counter(4.0 * keys * tokens * rows * heads * dim,
                                                benchmark::Counter::kIsIterationInvariantRate);
  state.SetBytesProcessed(state.iterations() * bytes);
}

void attend_shapes(benchmark::internal::Benchmark* b) {
  const auto add = [&](int context, int tokens, int rows, int encoding) {
    b->Args({context, tokens, rows, 12, 2, 128, encoding});
    b->Args({context, tokens, rows, 9, 3, 64, encoding});
  };
  const auto bf16 = static_cast<int>(KvEncoding::bf16), f16 = static_cast<int>(KvEncoding::f16);
  for (const int context : {64, 512, 4096}) add(context, 1, 1, bf16);
  for (const int tokens : {2, 4, 8}) add(4096, tokens, 1, bf16);
  add(512, 1, 8, bf16);
  add(512, 512, 1, bf16);
  add(4096, 1, 1, f16);
  add(4096, 1, 1, static_cast<int>(KvEncoding::f32));
  b->Args({4096, 1, 1, 4, 1, 256, bf16})->Args({2048, 1, 1, 16, 16, 128, bf16});
  b->ArgNames({"context", "T", "rows", "heads", "kv", "dim", "kv_type"});
}

}  // namespace paceline::kernels::bench
