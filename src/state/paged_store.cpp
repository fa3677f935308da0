#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/assert.h"
#include "kernels/attention.h"
#include "paceline/error.h"
#include "state/store_impl.h"

namespace paceline::state {
namespace {

namespace mx = mlx::core;

/// The page table of one layer of one sequence.
struct PageTable {
  int32_t first_position = 0;  // absolute position of pages[0], slot 0
  std::vector<Page> pages;
};

struct PagedLayers final : Sequence::Layers {
  std::vector<PageTable> tables;
  std::vector<LayerSpec> spec;
  int32_t page_tokens = 0;

  void truncate(int32_t length) override {
    for (PageTable& table : tables) {
      if (length == 0) table.first_position = 0;
      const int32_t held = std::max(0, length - table.first_position);
      const auto pages = static_cast<size_t>((held + page_tokens - 1) / page_tokens);
      while (table.pages.size() > pages) table.pages.pop_back();
    }
  }

  /// A query at `length` needs its whole window, so the floor lies a window behind what a layer
  /// dropped.
  int32_t truncate_floor() const override {
    int32_t floor = 0;
    for (size_t i = 0; i < tables.size(); ++i) {
      if (tables[i].first_position > 0)
        floor = std::max(floor, tables[i].first_position + spec[i].window - 1);
    }
    return floor;
  }
};

class PagedHistory final : public KvHistory {
 public:
  PagedHistory(const kernels::Context& ctx, kernels::KvDescPtr desc, mx::array effect)
      : ctx_(ctx), desc_(std::move(desc)), effect_(std::move(effect)) {}

  std::vector<mx::array> effects() const override { return {effect_}; }

  mx::array attend(const Batch& batch, const mx::array& q,
                   const kernels::AttendSpec& spec) const override {
    return kernels::attend(ctx_, q, effect_, batch.row_table(), desc_, spec);
  }

  Rows materialize(const Batch& /*batch*/, int32_t row) const override {
    std::vector<mx::array> kv = kernels::kv_gather(ctx_, effect_, row, desc_);
    return {.keys = kv[0],
            .values = kv[1],
            .first_position = desc_->rows[static_cast<size_t>(row)].live_begin};
  }

 private:
  kernels::Context ctx_;
  kernels::KvDescPtr desc_;
  mx::array effect_;
};

class PagedStore final : public StateStore::Impl {
 public:
  PagedStore(const StateSpec& spec, const StoreOptions& options, kernels::Context ctx)
      : spec_(spec), options_(options), ctx_(std::move(ctx)) {
    for (const LayerSpec& layer : spec_) {
      const int64_t per_token =
          int64_t{options_.page_tokens} * layer.kv_heads * element_bytes(options_.encoding);
      pools_.push_back(layer.kind == LayerKind::none
                           ? nullptr
                           : &pool_of(per_token * layer.key_dim, per_token * layer.value_dim));
    }
  }

  std::unique_ptr<Sequence::Layers> new_layers() override {
    auto layers = std::make_unique<PagedLayers>();
    layers->tables.resize(spec_.size());
    layers->spec = spec_;
    layers->page_tokens = options_.page_tokens;
    return layers;
  }

  void reserve(const Batch& batch) override {
    check_limit(batch);
    for (size_t r = 0; r < batch.rows().size(); ++r) {
      PagedLayers& layers = of(*batch.rows()[r].sequence);
      for (size_t i = 0; i < spec_.size(); ++i) {
        for (int64_t n = missing_pages(layers.tables[i], end_of(batch, r), i); n > 0; --n) {
          layers.tables[i].pages.push_back(pools_[i]->take());
        }
      }
    }
  }

  KvHistoryPtr update(int32_t layer, const Batch& batch, const mx::array& k,
                      const mx::array& v) override {
    const auto desc =
        std::make_shared<const kernels::KvDesc>(describe(static_cast<size_t>(layer), batch));
    mx::array effect = kernels::kv_write(ctx_, k, v, batch.row_table(), desc);
    return std::make_shared<PagedHistory>(ctx_, desc, std::move(effect));
  }

  void committed(Sequence& sequence) noexcept override {
    PagedLayers& layers = of(sequence);
    for (size_t i = 0; i < spec_.size(); ++i) {
      if (spec_[i].kind == LayerKind::sliding)
        drop_passed(layers.tables[i], sequence.length() - spec_[i].window);
    }
  }

  int64_t bytes_in_use() const override {
    int64_t bytes = 0;
    for (const auto& [sizes, pool] : by_size_) bytes += pool->pages_in_use() * pool->page_bytes();
    return bytes;
  }

  int64_t bytes_allocated() const override {
    int64_t bytes = 0;
    for (const auto& [sizes, pool] : by_size_) bytes += pool->bytes_allocated();
    return bytes;
  }

 private:
  static PagedLayers& of(Sequence& sequence) {
    return static_cast<PagedLayers&>(sequence.layers());
  }

  PagePool& pool_of(int64_t key_bytes, int64_t value_bytes) {
    auto& pool = by_size_[{key_bytes, value_bytes}];
    if (!pool) pool = std::make_unique<PagePool>(key_bytes, value_bytes);
    return *pool;
  }

  static int32_t end_of(const Batch& batch, size_t row) {
    const kernels::RowSpan& span = (*batch.row_table())[row];
    return span.start + span.length;
  }

  int64_t missing_pages(const PageTable& table, int32_t end, size_t layer) const {
    if (spec_[layer].kind == LayerKind::none) return 0;
    const int64_t needed =
        (int64_t{end} - table.first_position + options_.page_tokens - 1) / options_.page_tokens;
    return std::max<int64_t>(0, needed - static_cast<int64_t>(table.pages.size()));
  }

  void check_limit(const Batch& batch) const {
    if (options_.bytes_max == 0) return;
    int64_t bytes = bytes_in_use();
    for (size_t r = 0; r < batch.rows().size(); ++r) {
      PagedLayers& layers = of(*batch.rows()[r].sequence);
      for (size_t i = 0; i < spec_.size(); ++i) {
        if (pools_[i])
          bytes += missing_pages(layers.tables[i], end_of(batch, r), i) * pools_[i]->page_bytes();
      }
    }
    if (bytes > options_.bytes_max) {
      throw Error(ErrorCode::out_of_memory, "[state] keys and values would take " +
                                                std::to_string(bytes) + " bytes, the limit is " +
                                                std::to_string(options_.bytes_max));
    }
  }

  /// Frees pages whose last token no query can see any more. One page of slack lets a verify step
  /// roll back.
  void drop_passed(PageTable& table, int32_t window_begin) const noexcept {
    const int32_t passed = window_begin - options_.page_tokens - table.first_position;
    const int32_t pages =
        std::min(passed / options_.page_tokens, static_cast<int32_t>(table.pages.size()));
    if (pages <= 0) return;
    table.pages.erase(table.pages.begin(), table.pages.begin() + pages);
    table.first_position += pages * options_.page_tokens;
  }

  kernels::KvDesc describe(size_t layer, const Batch& batch) const {
    const LayerSpec& spec = spec_[layer];
    kernels::KvDesc desc{.encoding = options_.encoding,
                         .page_tokens = options_.page_tokens,
                         .kv_heads = spec.kv_heads,
                         .key_dim = spec.key_dim,
                         .value_dim = spec.value_dim,
                         .rows = {}};
    for (size_t r = 0; r < batch.rows().size(); ++r) {
      const PageTable& table = of(*batch.rows()[r].sequence).tables[layer];
      PACELINE_ASSERT(missing_pages(table, end_of(batch, r), layer) == 0);  // reserve() was called
      kernels::KvRowPages row{.first_position = table.first_position,
                              .live_begin = table.first_position,
                              .live_end = end_of(batch, r),
                              .keys = {},
                              .values = {}};
      for (const Page& page : table.pages) {
        row.keys.push_back(page.keys());
        row.values.push_back(page.values());
      }
      desc.rows.push_back(std::move(row));
    }
    return desc;
  }

  StateSpec spec_;
  StoreOptions options_;
  kernels::Context ctx_;
  // Layers whose pages have one size share a pool: few slabs, all of them full.
  std::map<std::pair<int64_t, int64_t>, std::unique_ptr<PagePool>> by_size_;
  std::vector<PagePool*> pools_;  // one per layer, null for layers without state
};

}  // namespace

std::unique_ptr<StateStore::Impl> make_paged_store(const StateSpec& spec,
                                                   const StoreOptions& options,
                                                   const kernels::Context& ctx) {
  return std::make_unique<PagedStore>(spec, options, ctx);
}

}  // namespace paceline::state
