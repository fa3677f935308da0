#include "kernels/attend_run.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/attend_mask.h"
#include "kernels/attend_worker.h"

namespace paceline::kernels {
namespace {

constexpr int kTileQueries =
    48;  // query heads of an item: enough to pay for decoding a block of keys
constexpr int kItemsPerThread = 4;
constexpr int64_t kForkProducts = 65536;

int32_t block_of(int32_t position) { return position / kAttendBlock; }

/// Tiles of tokens x KV heads of every row; items with more keys come later in a row.
std::vector<AttendItem> make_items(const AttendCall& call) {
  std::vector<AttendItem> items;
  const int group = call.heads / call.desc.kv_heads;
  const int32_t tile = std::max(1, kTileQueries / std::max(1, group));
  for (std::size_t r = 0; r < call.table.size(); ++r) {
    const RowSpan& span = call.table[r];
    const LiveRange live{call.desc.rows[r].live_begin, call.desc.rows[r].live_end};
    const auto row = static_cast<int32_t>(r);
    for (int32_t begin = 0; begin < span.length; begin += tile) {
      const int32_t end = std::min(span.length, begin + tile);
      const LiveRange keys = reach(call.spec.mask, row, span.start + begin, span.start + end, live);
      const int32_t block_end = keys.end > keys.begin ? block_of(keys.end - 1) + 1 : 0;
      const int32_t block_begin = std::min(block_of(keys.begin), block_end);
      for (int32_t head = 0; head < call.desc.kv_heads; ++head) {
        items.push_back({row, begin, end, head, block_begin, block_end, 0});
      }
    }
  }
  return items;
}

/// Runs body(worker, i) for every i, in any order, on the pool's threads.
template <class Body>
void for_each(const AttendCall& call, int64_t count, int64_t queries_max, bool fork, Body body) {
  std::atomic<int64_t> next{0};
  const auto work = [&](int64_t, int64_t) {
    AttendWorker worker(call, queries_max);
    for (int64_t i = next++; i < count; i = next++) body(worker, i);
  };
  if (fork) {
    call.ctx.pool->parallel_for(call.ctx.pool->size(), 1, work);
  } else {
    work(0, 1);
  }
}

void run_split(const AttendCall& call, std::vector<AttendItem> items, int64_t queries_max) {
  const AttendWorker shape(call, 0);
  int64_t floats = 0;
  std::vector<std::pair<int32_t, int32_t>> units;  // item, block
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].partials = floats;
    for (int32_t block = items[i].block_begin; block < items[i].block_end; ++block) {
      units.emplace_back(static_cast<int32_t>(i), block);
      floats += shape.query_count(items[i]) * shape.partial_stride();
    }
  }
  std::vector<float> partials(static_cast<std::size_t>(floats));
  for_each(call, static_cast<int64_t>(units.size()), queries_max, true,
           [&](AttendWorker& worker, int64_t i) {
             const auto [at, block] = units[static_cast<std::size_t>(i)];
             const AttendItem& item = items[static_cast<std::size_t>(at)];
             const int64_t size = worker.query_count(item) * worker.partial_stride();
             worker.keep(item, block,
                         partials.data() + item.partials + (block - item.block_begin) * size);
           });
  for_each(call, static_cast<int64_t>(items.size()), queries_max, true,
           [&](AttendWorker& worker, int64_t i) {
             const AttendItem& item = items[static_cast<std::size_t>(i)];
             worker.merge_kept(item, partials.data() + item.partials);
           });
}

}  // namespace

void run_attend(const AttendCall& call) {
  const std::vector<AttendItem> items = make_items(call);
  const AttendWorker shape(call, 0);
  int64_t queries_max = 1;
  int64_t blocks = 0;
  int64_t products = 0;
  for (const auto& item : items) {
    const int64_t queries = shape.query_count(item);
    queries_max = std::max(queries_max, queries);
    blocks += item.block_end - item.block_begin;
    products += queries * (item.block_end - item.block_begin) * kAttendBlock *
                (call.desc.key_dim + call.desc.value_dim);
  }
  const int threads = call.ctx.pool->size();
  const bool fork = threads > 1 && products > kForkProducts;
  const auto count = static_cast<int64_t>(items.size());
  if (fork && count < int64_t{threads} * kItemsPerThread && blocks > count) {
    run_split(call, items, queries_max);
    return;
  }
  for_each(call, count, queries_max, fork, [&](AttendWorker& worker, int64_t i) {
    worker.run(items[static_cast<std::size_t>(i)]);
  });
}

const AttendTable& attend_table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return attend_table_avx512();
  if (isa == Isa::avx2) return attend_table_avx2();
#endif
  static_cast<void>(isa);
  return attend_table_generic();
}

}  // namespace paceline::kernels
