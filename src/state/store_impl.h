#pragma once

#include <memory>
#include <vector>

#include "state/page_pool.h"
#include "state/store.h"

namespace paceline::state {

/// Per-sequence state of every layer; the backend knows the concrete type.
struct Sequence::Layers {
  virtual ~Layers() = default;
  /// Called by Sequence::truncate after the length was checked.
  virtual void truncate(int32_t length) = 0;
  /// First position that truncate() may go back to.
  virtual int32_t truncate_floor() const = 0;
};

/// A storage backend.
struct StateStore::Impl {
  virtual ~Impl() = default;
  virtual std::unique_ptr<Sequence::Layers> new_layers() = 0;
  virtual void reserve(const Batch& batch) = 0;
  virtual KvHistoryPtr update(int32_t layer, const Batch& batch, const mlx::core::array& k,
                              const mlx::core::array& v) = 0;
  virtual void committed(Sequence& sequence) noexcept = 0;
  virtual int64_t bytes_in_use() const = 0;
  virtual int64_t bytes_allocated() const = 0;
};

/// Bytes of one key or value element.
int64_t element_bytes(kernels::KvEncoding encoding);

std::unique_ptr<StateStore::Impl> make_paged_store(const StateSpec& spec,
                                                   const StoreOptions& options,
                                                   const kernels::Context& ctx);
std::unique_ptr<StateStore::Impl> make_portable_store(const StateSpec& spec,
                                                      const StoreOptions& options);

}  // namespace paceline::state
