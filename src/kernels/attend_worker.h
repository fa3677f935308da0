#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/attend_kernel.h"
#include "kernels/attend_plan.h"
#include "kernels/attend_run.h"
#include "kernels/kv_pages.h"

namespace paceline::kernels {

/// What one thread needs to work on pieces of a plan: scores, running states, and, for pages that a
/// kernel cannot read in place, a copy of a block.
class AttendWorker {
 public:
  AttendWorker(const AttendCall& call, const AttendPlan& plan, float* kept);

  /// All blocks of pieces [begin, end) of the plan. Items that lie in one piece are finished.
  void run(int32_t begin, int32_t end);
  /// Merges the kept states of an item, whose first piece is `piece`, in order and finishes it.
  void merge_kept(int32_t piece);

 private:
  const AttendItem& item_of(const AttendPiece& piece) const {
    return plan_.items[static_cast<std::size_t>(piece.item)];
  }
  const RowSpan& span(const AttendItem& item) const {
    return call_.table[static_cast<std::size_t>(item.row)];
  }
  const KvRowPages& pages(const AttendItem& item) const {
    return call_.desc.rows[static_cast<std::size_t>(item.row)];
  }
  int64_t query_count(const AttendItem& item) const {
    return int64_t{item.token_end - item.token_begin} * group_;
  }
  int64_t head(const AttendItem& item, int64_t query) const {
    return int64_t{item.kv_head} * group_ + query % group_;
  }
  int64_t token(const AttendItem& item, int64_t query) const {
    return span(item).token_begin + item.token_begin + query / group_;
  }

  void run_piece(const AttendPiece& piece, const AttendPiece& after);
  void start_states(const AttendItem& item, float* states, bool with_sinks) const;
  void finish(const AttendItem& item, const float* states) const;
  /// Merges a block into the item's states.
  void run_block(const AttendItem& item, const KvBlock& block, const KvBlock& next, float* states);
  /// False when no query of the item sees any key of the block.
  bool find_visible(const AttendItem& item, int32_t block);
  KvBlock locate(const AttendItem& item, int32_t block) const;
  /// The live keys and values of a block, copied from pages that do not hold whole groups. Other
  /// slots keep what they had and are never visible.
  KvBlock copy(const AttendItem& item, int32_t block);
  void copy_token(const AttendItem& item, int32_t position);

  const AttendCall& call_;
  const AttendPlan& plan_;
  const AttendTable& table_;
  float* kept_;
  int64_t group_;
  int64_t state_stride_;
  bool in_place_;                      ///< kernels read the pages themselves
  std::vector<float> weights_;         // [queries][64]
  std::vector<float> states_;          // [queries][state_stride]
  std::vector<const float*> queries_;  // of the current item
  std::vector<uint64_t> visible_;
  std::vector<std::byte> keys_;    // [4][key_dim][16], unless in place
  std::vector<std::byte> values_;  // [64][value_dim]
};

/// Floats of a query's state.
int64_t attend_state_stride(const KvDesc& desc);

}  // namespace paceline::kernels
