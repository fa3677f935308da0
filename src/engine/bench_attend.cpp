#include "engine/bench_attend.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/bench_data.h"
#include "state/store.h"

namespace paceline::engine {
namespace {

namespace mx = mlx::core;

constexpr int64_t kLayersMax = 64;

/// Layers of one shape whose histories hold the context.
class Histories {
 public:
  Histories(const kernels::Context& ctx, const AttendShape& shape, int64_t cold_bytes)
      : shape_(shape),
        store_(spec_of(shape, cold_bytes), {.encoding = kernels::KvEncoding::bf16}, ctx),
        q_(bench_floats({shape.sequences * shape.tokens, shape.heads, shape.dim})),
        kv_(bench_floats({shape.sequences * shape.tokens, shape.kv_heads, shape.dim})) {
    for (int32_t i = 0; i < shape.sequences; ++i) sequences_.push_back(store_.new_sequence());
    if (shape.context > 0) {
      const state::Batch batch = batch_of(shape.context);
      const mx::array kv =
          bench_floats({shape.sequences * shape.context, shape.kv_heads, shape.dim});
      store_.reserve(batch);
      for (int32_t layer = 0; layer < layers(); ++layer) store_.update(layer, batch, kv, kv);
      mx::eval(store_.take_effects());
      store_.commit(batch, std::vector<int32_t>(sequences_.size(), shape.context));
    }
  }

  int32_t layers() const { return static_cast<int32_t>(store_.spec().size()); }

  /// Writes the new tokens and attends, in every layer.
  void attend() {
    const state::Batch batch = batch_of(shape_.tokens);
    store_.reserve(batch);
    kernels::AttendSpec spec;
    spec.scale = 0.1F;
    std::vector<mx::array> outputs;
    for (int32_t layer = 0; layer < layers(); ++layer)
      outputs.push_back(store_.update(layer, batch, kv_, kv_)->attend(batch, q_, spec));
    const std::vector<mx::array> effects = store_.take_effects();
    outputs.insert(outputs.end(), effects.begin(), effects.end());
    mx::eval(outputs);
  }

 private:
  static state::StateSpec spec_of(const AttendShape& shape, int64_t cold_bytes) {
    const int64_t layer =
        int64_t{4} * shape.sequences * (shape.context + shape.tokens) * shape.kv_heads * shape.dim;
    const int64_t layers = std::clamp<int64_t>(cold_bytes / layer, 1, kLayersMax);
    return state::StateSpec(static_cast<std::size_t>(layers), {.kind = state::LayerKind::full,
                                                               .kv_heads = shape.kv_heads,
                                                               .key_dim = shape.dim,
                                                               .value_dim = shape.dim});
  }

  state::Batch batch_of(int32_t tokens) const {
    std::vector<state::BatchRow> rows;
    for (const auto& sequence : sequences_) {
      rows.push_back({.sequence = sequence.get(),
                      .tokens = std::vector<int32_t>(static_cast<std::size_t>(tokens), 0),
                      .wanted = {}});
    }
    return state::Batch(std::move(rows));
  }

  AttendShape shape_;
  state::StateStore store_;
  mx::array q_;
  mx::array kv_;
  std::vector<std::unique_ptr<state::Sequence>> sequences_;
};

}  // namespace

Operation attend_operation(const kernels::Context& ctx, const AttendShape& shape,
                           int64_t cold_bytes) {
  auto histories = std::make_shared<Histories>(ctx, shape, cold_bytes);  // std::function copies
  const double tokens = static_cast<double>(shape.sequences) * shape.tokens;
  const double keys = shape.context + (shape.tokens + 1) / 2.0;  // that a query sees on average
  const double held = static_cast<double>(shape.sequences) * (shape.context + shape.tokens);
  return {.name = "attend",
          .shape = std::to_string(shape.sequences) + " x " + std::to_string(shape.tokens) + " at " +
                   std::to_string(shape.context) + ", " + std::to_string(shape.heads) + "/" +
                   std::to_string(shape.kv_heads) + " x " + std::to_string(shape.dim),
          .rows = static_cast<int32_t>(tokens),
          .bytes = 4 * held * shape.kv_heads * shape.dim + 8 * tokens * shape.heads * shape.dim,
          .operations = 4 * tokens * keys * shape.heads * shape.dim,
          .calls = histories->layers(),
          .run = [histories] { histories->attend(); }};
}

}  // namespace paceline::engine
