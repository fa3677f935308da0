/// Attention over pages of 64 tokens:
///   attend_<isa>/<context>/<tokens>/<rows>/<heads>/<kv heads>/<head dim>/<encoding>
/// for `rows` sequences of `context` tokens, the last `tokens` of each as queries. Encoding: 0 f32,
/// 1 bf16, 2 f16. FLOP/s counts 4 * visible keys * head dim per query head, B/s the keys and values
/// read once. Calls follow each other over so many layers that 64 MB of keys and values lie between
/// two reads of one, at most 28. Registered by linear_bench.cpp.
#include <benchmark/benchmark.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/attend_run.h"
#include "kernels/kv_pages.h"
#include "kernels/test_support.h"

namespace paceline::kernels::bench {
namespace {

constexpr int64_t kColdBytes = int64_t{64} << 20;
constexpr int64_t kLayersMax = 28;
constexpr int64_t kHugePage = int64_t{2} << 20;

/// Pages of one layer on huge pages, as a store keeps them.
class LayerPages {
 public:
  LayerPages(const RowTable& table, const KvDesc& shape, int64_t bytes)
      : memory_(static_cast<std::byte*>(
            std::aligned_alloc(kHugePage, (bytes + kHugePage - 1) / kHugePage * kHugePage))) {
    madvise(memory_.get(), static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    std::memset(memory_.get(), 0x3c, static_cast<std::size_t>(bytes));
    auto desc = std::make_shared<KvDesc>(shape);
    const int64_t half =
        int64_t{shape.page_tokens} * shape.kv_heads * shape.key_dim * kv_item_bytes(shape.encoding);
    std::byte* at = memory_.get();
    for (const RowSpan& span : table) {
      KvRowPages row;
      row.live_end = span.start + span.length;
      for (int32_t begin = 0; begin < row.live_end; begin += shape.page_tokens, at += 2 * half) {
        row.keys.push_back(at);
        row.values.push_back(at + half);
      }
      desc->rows.push_back(row);
    }
    desc_ = desc;
  }
  const KvDesc& desc() const { return *desc_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  KvDescPtr desc_;
};

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
  std::vector<LayerPages> pages;
  for (int64_t i = 0; i < layers; ++i) pages.emplace_back(table, shape, bytes);
  const auto q = testing::random_floats(static_cast<std::size_t>(rows) * tokens * heads * dim, 1);
  std::vector<float> out(q.size());
  AttendSpec spec;
  spec.scale = 0.125F;
  std::size_t layer = 0;
  for (auto _ : state) {
    run_attend({ctx, table, pages[layer].desc(), spec, q.data(), out.data(), heads});
    layer = (layer + 1) % pages.size();
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
