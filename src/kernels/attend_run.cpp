#include "kernels/attend_run.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "kernels/attend_kernel.h"
#include "kernels/attend_mask.h"
#include "kernels/kv_pages.h"

namespace paceline::kernels {
namespace {

constexpr int kTileQueries =
    48;  // query heads of an item: enough to pay for decoding a block of keys
constexpr int kItemsPerThread = 4;
constexpr int64_t kForkProducts = 65536;

/// Tokens [token_begin, token_end) of a row against one KV head; key blocks [block_begin,
/// block_end).
struct Item {
  int32_t row = 0;
  int32_t token_begin = 0;
  int32_t token_end = 0;
  int32_t kv_head = 0;
  int32_t block_begin = 0;
  int32_t block_end = 0;
  int64_t partials = 0;  ///< where its blocks' contributions lie, when they are kept
};

int32_t block_of(int32_t position) { return position / kAttendBlock; }

/// What one thread needs for one item.
class Worker {
 public:
  Worker(const AttendCall& call, int64_t queries_max)
      : call_(call),
        table_(attend_table(call.ctx.isa)),
        group_(call.heads / call.desc.kv_heads),
        stride_((call.desc.value_dim + 15) / 16 * 16),
        keys_(static_cast<std::size_t>(call.desc.key_dim) * kAttendBlock),
        values_(static_cast<std::size_t>(stride_) * kAttendBlock),
        weights_(static_cast<std::size_t>(queries_max) * kAttendBlock),
        partial_(static_cast<std::size_t>(queries_max * partial_stride())),
        state_(partial_.size()),
        queries_(static_cast<std::size_t>(queries_max)),
        visible_(static_cast<std::size_t>(queries_max)) {}

  int64_t partial_stride() const { return 16 + stride_; }
  int64_t query_count(const Item& item) const {
    return int64_t{item.token_end - item.token_begin} * group_;
  }

  /// All blocks of an item, merged as they come.
  void run(const Item& item) {
    const int64_t queries = query_count(item);
    start_states(item, state_.data());
    for (int32_t block = item.block_begin; block < item.block_end; ++block) {
      if (!contribution(item, block, partial_.data())) continue;
      for (int64_t i = 0; i < queries; ++i) {
        table_.merge(state_.data() + i * partial_stride(), partial_.data() + i * partial_stride(),
                     stride_);
      }
    }
    finish(item, state_.data());
  }

  /// One block's contribution into `partial` [queries][partial_stride].
  void keep(const Item& item, int32_t block, float* partial) {
    if (contribution(item, block, partial)) return;
    for (int64_t i = 0; i < query_count(item); ++i) {
      partial[i * partial_stride()] = -std::numeric_limits<float>::infinity();
    }
  }

  /// Merges the kept contributions of an item in order.
  void merge_kept(const Item& item, const float* partials) {
    const int64_t size = query_count(item) * partial_stride();
    start_states(item, state_.data());
    for (int32_t block = item.block_begin; block < item.block_end; ++block, partials += size) {
      for (int64_t i = 0; i < size; i += partial_stride()) {
        table_.merge(state_.data() + i, partials + i, stride_);
      }
    }
    finish(item, state_.data());
  }

 private:
  const RowSpan& span(const Item& item) const {
    return call_.table[static_cast<std::size_t>(item.row)];
  }
  const KvRowPages& pages(const Item& item) const {
    return call_.desc.rows[static_cast<std::size_t>(item.row)];
  }
  int64_t head(const Item& item, int64_t query) const {
    return int64_t{item.kv_head} * group_ + query % group_;
  }
  int64_t token(const Item& item, int64_t query) const {
    return span(item).token_begin + item.token_begin + query / group_;
  }

  void start_states(const Item& item, float* state) const {
    const auto& sinks = call_.spec.sinks;
    for (int64_t i = 0; i < query_count(item); ++i, state += partial_stride()) {
      std::fill(state, state + partial_stride(), 0.0F);
      state[0] = -std::numeric_limits<float>::infinity();
      if (sinks.empty()) continue;
      state[0] = sinks[static_cast<std::size_t>(head(item, i))];
      state[1] = 1.0F;
    }
  }

  void finish(const Item& item, const float* state) const {
    for (int64_t i = 0; i < query_count(item); ++i) {
      float* out =
          call_.out + (token(item, i) * call_.heads + head(item, i)) * call_.desc.value_dim;
      table_.finish(state + i * partial_stride(), out, call_.desc.value_dim);
    }
  }

  /// False when no query of the item sees any key of the block.
  bool contribution(const Item& item, int32_t block, float* partial) {
    if (!find_visible(item, block)) return false;
    decode(item, block);
    const int64_t queries = query_count(item);
    for (int64_t i = 0; i < queries; ++i) {
      queries_[static_cast<std::size_t>(i)] =
          call_.q + (token(item, i) * call_.heads + head(item, i)) * call_.desc.key_dim;
    }
    table_.block({.keys = keys_.data(),
                  .values = values_.data(),
                  .queries = queries_.data(),
                  .visible = visible_.data(),
                  .queries_count = queries,
                  .key_dim = call_.desc.key_dim,
                  .value_stride = stride_,
                  .scale = call_.spec.scale,
                  .softcap = call_.spec.softcap,
                  .weights = weights_.data(),
                  .partial = partial,
                  .partial_stride = partial_stride()});
    return true;
  }

  bool find_visible(const Item& item, int32_t block) {
    const LiveRange live{pages(item).live_begin, pages(item).live_end};
    uint64_t any = 0;
    for (int64_t i = 0; i < query_count(item); i += group_) {
      const auto position = static_cast<int32_t>(span(item).start + item.token_begin + i / group_);
      const uint64_t bits =
          visible_keys(call_.spec.mask, item.row, position, block * kAttendBlock, live);
      std::fill_n(visible_.begin() + i, group_, bits);
      any |= bits;
    }
    return any != 0;
  }

  /// The live keys and values of a block into f32; other columns keep what they had and are never
  /// visible.
  void decode(const Item& item, int32_t block) {
    const KvRowPages& row = pages(item);
    const KvDesc& desc = call_.desc;
    int32_t position = std::max(block * kAttendBlock, row.live_begin);
    const int32_t end = std::min((block + 1) * kAttendBlock, row.live_end);
    while (position < end) {
      const PageRun run = page_run(desc, row, position, end);
      const auto page = static_cast<std::size_t>(run.page);
      const int64_t column = position % kAttendBlock;
      const std::byte* key = page_row(row.keys[page], desc, desc.key_dim, item.kv_head, run.slot);
      table_.keys({.rows = key,
                   .encoding = desc.encoding,
                   .tokens = run.count,
                   .row_stride = desc.key_dim,
                   .dim = desc.key_dim,
                   .out = keys_.data() + column,
                   .out_stride = kAttendBlock - column});
      const bool shared = call_.spec.v_from_k;
      const int64_t dim = shared ? desc.key_dim : desc.value_dim;
      const std::byte* value =
          shared ? key : page_row(row.values[page], desc, dim, item.kv_head, run.slot);
      table_.values({.rows = value,
                     .encoding = desc.encoding,
                     .tokens = run.count,
                     .row_stride = dim,
                     .dim = desc.value_dim,
                     .out = values_.data() + column * stride_,
                     .out_stride = stride_});
      position += run.count;
    }
  }

  const AttendCall& call_;
  const AttendTable& table_;
  int64_t group_;
  int64_t stride_;
  std::vector<float> keys_;     // [key_dim][64]
  std::vector<float> values_;   // [64][stride_]
  std::vector<float> weights_;  // [queries][64]
  std::vector<float> partial_;  // [queries][partial_stride]
  std::vector<float> state_;
  std::vector<const float*> queries_;
  std::vector<uint64_t> visible_;
};

/// Tiles of tokens x KV heads of every row; items with more keys come later in a row.
std::vector<Item> make_items(const AttendCall& call) {
  std::vector<Item> items;
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
    Worker worker(call, queries_max);
    for (int64_t i = next++; i < count; i = next++) body(worker, i);
  };
  if (fork) {
    call.ctx.pool->parallel_for(call.ctx.pool->size(), 1, work);
  } else {
    work(0, 1);
  }
}

void run_split(const AttendCall& call, std::vector<Item> items, int64_t queries_max) {
  const Worker shape(call, 0);
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
           [&](Worker& worker, int64_t i) {
             const auto [at, block] = units[static_cast<std::size_t>(i)];
             const Item& item = items[static_cast<std::size_t>(at)];
             const int64_t size = worker.query_count(item) * worker.partial_stride();
             worker.keep(item, block,
                         partials.data() + item.partials + (block - item.block_begin) * size);
           });
  for_each(call, static_cast<int64_t>(items.size()), queries_max, true,
           [&](Worker& worker, int64_t i) {
             const Item& item = items[static_cast<std::size_t>(i)];
             worker.merge_kept(item, partials.data() + item.partials);
           });
}

}  // namespace

void run_attend(const AttendCall& call) {
  const std::vector<Item> items = make_items(call);
  const Worker shape(call, 0);
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
  for_each(call, count, queries_max, fork,
           [&](Worker& worker, int64_t i) { worker.run(items[static_cast<std::size_t>(i)]); });
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
