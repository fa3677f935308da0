#include <mlx/ops.h>

#include <algorithm>
#include <optional>
#include <string>

#include "kernels/attention.h"
#include "paceline/error.h"
#include "state/store_impl.h"

namespace paceline::state {
namespace {

namespace mx = mlx::core;

constexpr int32_t kGrowTokens =
    256;  // buffers grow in steps, so that a token is a slice update and no copy

/// One layer of one sequence: [capacity, kv_heads, dim] in the storage type. Sliding layers keep
/// everything here: the mask alone says what a query sees, which makes this path a simple oracle
/// for the paged one.
struct Buffers {
  std::optional<mx::array> keys;
  std::optional<mx::array> values;
};

struct PortableLayers final : Sequence::Layers {
  std::vector<Buffers> buffers;
  void truncate(int32_t length) override {
    if (length == 0) std::fill(buffers.begin(), buffers.end(), Buffers{});
  }
  int32_t truncate_floor() const override { return 0; }
};

mx::array tokens_of(const mx::array& x, int32_t begin, int32_t end) {
  return mx::slice(x, {begin, 0, 0}, {end, x.shape(1), x.shape(2)});
}

/// Writes `rows` [L, heads, dim] at `start`, growing the buffer where needed.
void write(std::optional<mx::array>& buffer, const mx::array& rows, int32_t start) {
  const int32_t end = start + rows.shape(0);
  const int32_t capacity = buffer ? buffer->shape(0) : 0;
  if (end > capacity) {
    const int32_t grown = (end + kGrowTokens - 1) / kGrowTokens * kGrowTokens;
    mx::array more = mx::zeros({grown - capacity, rows.shape(1), rows.shape(2)}, rows.dtype());
    buffer = buffer ? mx::concatenate({*buffer, more}, 0) : more;
  }
  buffer = mx::slice_update(*buffer, rows, mx::Shape{start, 0, 0},
                            mx::Shape{end, rows.shape(1), rows.shape(2)});
}

class PortableHistory final : public KvHistory {
 public:
  PortableHistory(std::vector<Rows> rows, std::vector<mx::array> written)
      : rows_(std::move(rows)), written_(std::move(written)) {}

  std::vector<mx::array> effects() const override { return written_; }

  mx::array attend(const Batch& batch, const mx::array& q,
                   const kernels::AttendSpec& spec) const override {
    std::vector<mx::array> parts;
    for (size_t r = 0; r < rows_.size(); ++r) {
      const kernels::RowSpan& span = (*batch.row_table())[r];
      const mx::array part = tokens_of(q, span.token_begin, span.token_begin + span.length);
      parts.push_back(kernels::attend_portable(part, rows_[r].keys, rows_[r].values, span,
                                               static_cast<int32_t>(r), rows_[r].first_position,
                                               spec));
    }
    return mx::concatenate(parts, 0);
  }

  Rows materialize(const Batch& /*batch*/, int32_t row) const override {
    return rows_[static_cast<size_t>(row)];
  }

 private:
  std::vector<Rows> rows_;
  std::vector<mx::array> written_;
};

class PortableStore final : public StateStore::Impl {
 public:
  PortableStore(const StateSpec& spec, const StoreOptions& options)
      : spec_(spec), options_(options) {}

  std::unique_ptr<Sequence::Layers> new_layers() override {
    auto layers = std::make_unique<PortableLayers>();
    layers->buffers.resize(spec_.size());
    return layers;
  }

  void reserve(const Batch& /*batch*/) override {
  }  // buffers grow in update(): the specification has no page pool

  KvHistoryPtr update(int32_t layer, const Batch& batch, const mx::array& k,
                      const mx::array& v) override {
    const mx::Dtype dtype = options_.encoding == kernels::KvEncoding::f32   ? mx::float32
                            : options_.encoding == kernels::KvEncoding::f16 ? mx::float16
                                                                            : mx::bfloat16;
    std::vector<KvHistory::Rows> rows;
    std::vector<mx::array> written;
    for (size_t r = 0; r < batch.rows().size(); ++r) {
      const kernels::RowSpan& span = (*batch.row_table())[r];
      auto& layers = static_cast<PortableLayers&>(batch.rows()[r].sequence->layers());
      Buffers& buffers = layers.buffers[static_cast<size_t>(layer)];
      const int32_t begin = span.token_begin;
      write(buffers.keys, mx::astype(tokens_of(k, begin, begin + span.length), dtype), span.start);
      write(buffers.values, mx::astype(tokens_of(v, begin, begin + span.length), dtype),
            span.start);
      written.insert(written.end(), {*buffers.keys, *buffers.values});
      const int32_t end = span.start + span.length;
      rows.push_back({.keys = mx::astype(tokens_of(*buffers.keys, 0, end), mx::float32),
                      .values = mx::astype(tokens_of(*buffers.values, 0, end), mx::float32),
                      .first_position = 0});
    }
    return std::make_shared<PortableHistory>(std::move(rows), std::move(written));
  }

  void committed(Sequence& /*sequence*/) noexcept override {}
  int64_t bytes_in_use() const override { return 0; }
  int64_t bytes_allocated() const override { return 0; }

 private:
  StateSpec spec_;
  StoreOptions options_;
};

}  // namespace

std::unique_ptr<StateStore::Impl> make_portable_store(const StateSpec& spec,
                                                      const StoreOptions& options) {
  return std::make_unique<PortableStore>(spec, options);
}

}  // namespace paceline::state
