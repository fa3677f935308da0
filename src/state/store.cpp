#include "state/store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "paceline/error.h"
#include "state/store_impl.h"

namespace paceline::state {

int64_t element_bytes(kernels::KvEncoding encoding) {
  return encoding == kernels::KvEncoding::f32 ? 4 : 2;
}

Sequence::Sequence(StateStore& store, std::unique_ptr<Layers> layers)
    : store_(store), layers_(std::move(layers)) {}

Sequence::~Sequence() = default;

void Sequence::truncate(int32_t length) {
  const int32_t floor = layers_->truncate_floor();
  if (length < 0 || length > length_ || (length != 0 && length < floor)) {
    throw Error(ErrorCode::invalid_argument,
                "[state] cannot truncate to " + std::to_string(length) +
                    " tokens: the sequence holds [" + std::to_string(floor) + ", " +
                    std::to_string(length_) + ")");
  }
  layers_->truncate(length);
  length_ = length;
}

StateStore::StateStore(StateSpec spec, StoreOptions options, const kernels::Context& ctx)
    : spec_(std::move(spec)), options_(options) {
  PACELINE_ASSERT(options_.page_tokens > 0);
  impl_ =
      ctx.portable ? make_portable_store(spec_, options_) : make_paged_store(spec_, options_, ctx);
}

StateStore::~StateStore() = default;

std::unique_ptr<Sequence> StateStore::new_sequence() {
  return std::make_unique<Sequence>(*this, impl_->new_layers());
}

void StateStore::reserve(const Batch& batch) {
  effects_.clear();
  impl_->reserve(batch);
}

KvHistoryPtr StateStore::update(int32_t layer, const Batch& batch, const mlx::core::array& k,
                                const mlx::core::array& v) {
  const LayerSpec& spec = spec_.at(static_cast<size_t>(layer));
  const mlx::core::Shape k_shape{batch.token_count(), spec.kv_heads, spec.key_dim};
  const mlx::core::Shape v_shape{batch.token_count(), spec.kv_heads, spec.value_dim};
  PACELINE_ASSERT(spec.kind != LayerKind::none && k.shape() == k_shape && v.shape() == v_shape);
  KvHistoryPtr history = impl_->update(layer, batch, k, v);
  const std::vector<mlx::core::array> written = history->effects();
  effects_.insert(effects_.end(), written.begin(), written.end());
  return history;
}

std::vector<mlx::core::array> StateStore::take_effects() { return std::exchange(effects_, {}); }

void StateStore::commit(const Batch& batch, const std::vector<int32_t>& keep) noexcept {
  for (size_t r = 0; r < batch.rows().size(); ++r) {
    Sequence& sequence = *batch.rows()[r].sequence;
    sequence.length_ += keep[r];
    impl_->committed(sequence);
  }
}

int64_t StateStore::bytes_in_use() const { return impl_->bytes_in_use(); }

int64_t StateStore::bytes_allocated() const { return impl_->bytes_allocated(); }

int64_t StateStore::bytes_for(int32_t tokens) const {
  int64_t bytes = 0;
  for (const LayerSpec& layer : spec_) {
    if (layer.kind == LayerKind::none) continue;
    const int64_t pages = (int64_t{tokens} + options_.page_tokens - 1) / options_.page_tokens;
    bytes += pages * options_.page_tokens * layer.kv_heads * (layer.key_dim + layer.value_dim) *
             element_bytes(options_.encoding);
  }
  return bytes;
}

}  // namespace paceline::state
