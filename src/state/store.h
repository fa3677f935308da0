#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/attend_spec.h"
#include "kernels/context.h"
#include "state/batch.h"
#include "state/state_spec.h"

namespace paceline::state {

/// The keys and values of one layer as one forward sees them. Hides pages, windows and encodings.
class KvHistory {
 public:
  virtual ~KvHistory() = default;
  /// What must be evaluated for this forward's writes to have happened.
  virtual std::vector<mlx::core::array> effects() const = 0;
  /// Attends q [T, heads, key_dim] f32 over the history; returns [T, heads, value_dim] f32. The
  /// result depends on this forward's update().
  virtual mlx::core::array attend(const Batch& batch, const mlx::core::array& q,
                                  const kernels::AttendSpec& spec) const = 0;

  struct Rows {
    mlx::core::array keys;    ///< [K, kv_heads, key_dim] f32, logical order
    mlx::core::array values;  ///< [K, kv_heads, value_dim] f32
    int32_t first_position;   ///< absolute position of row 0
  };
  /// Decoded keys and values of one batch row: the public escape hatch, and what the portable path
  /// is built on.
  virtual Rows materialize(const Batch& batch, int32_t row) const = 0;
};
using KvHistoryPtr = std::shared_ptr<const KvHistory>;

struct StoreOptions {
  kernels::KvEncoding encoding = kernels::KvEncoding::bf16;
  int32_t page_tokens = 64;
  int64_t bytes_max = 0;  ///< 0 = unlimited; exceeding it is Error{out_of_memory}
};

class StateStore;

/// The state of one token sequence in every layer. Created by a StateStore, which must outlive it.
class Sequence {
 public:
  struct Layers;
  Sequence(StateStore& store, std::unique_ptr<Layers> layers);
  ~Sequence();
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  /// Committed tokens.
  int32_t length() const { return length_; }
  /// Forgets every token from `length` on. For sliding layers `length` may not lie more than the
  /// slack before the longest length reached: Error{invalid_argument}.
  void truncate(int32_t length);

  Layers& layers() { return *layers_; }
  const Layers& layers() const { return *layers_; }

 private:
  friend class StateStore;
  StateStore& store_;
  std::unique_ptr<Layers> layers_;
  int32_t length_ = 0;
};

/// Storage of all layers of one model: a pool of pages per layer shape and a page table per
/// sequence. Engine thread only.
class StateStore {
 public:
  /// ctx.portable selects plain MLX arrays instead of engine-owned pages.
  StateStore(StateSpec spec, StoreOptions options, const kernels::Context& ctx);
  ~StateStore();

  std::unique_ptr<Sequence> new_sequence();
  /// Makes room for the batch's tokens in every layer. Call before forward. Throws
  /// Error{out_of_memory}; then nothing has changed.
  void reserve(const Batch& batch);
  /// Writes k [T, kv_heads, key_dim] and v [T, kv_heads, value_dim] f32 of one layer into the
  /// sequences of the batch.
  KvHistoryPtr update(int32_t layer, const Batch& batch, const mlx::core::array& k,
                      const mlx::core::array& v);
  /// The writes of every update() since the last call. The step evaluates them together with the
  /// rows it wants: a write that is not evaluated does not happen.
  std::vector<mlx::core::array> take_effects();
  /// After the forward has been evaluated: the first keep[row] tokens of each row become part of
  /// its sequence.
  void commit(const Batch& batch, const std::vector<int32_t>& keep) noexcept;

  const StateSpec& spec() const { return spec_; }
  const StoreOptions& options() const { return options_; }
  int64_t bytes_in_use() const;
  int64_t bytes_allocated() const;
  /// Bytes one sequence of `tokens` tokens needs.
  int64_t bytes_for(int32_t tokens) const;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  friend class Sequence;
  StateSpec spec_;
  StoreOptions options_;
  std::unique_ptr<Impl> impl_;
  std::vector<mlx::core::array> effects_;
};

}  // namespace paceline::state
