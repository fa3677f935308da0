#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attend_kernel.h"
#include "kernels/attend_run.h"
#include "kernels/kv_pages.h"

namespace paceline::kernels {

/// Tokens [token_begin, token_end) of a row against one KV head; key blocks [block_begin,
/// block_end).
struct AttendItem {
  int32_t row = 0;
  int32_t token_begin = 0;
  int32_t token_end = 0;
  int32_t kv_head = 0;
  int32_t block_begin = 0;
  int32_t block_end = 0;
  int64_t partials = 0;  ///< where its blocks' contributions lie, when they are kept
};

/// What one thread needs to work on items: decoded keys and values of a block, scores, running
/// states.
class AttendWorker {
 public:
  AttendWorker(const AttendCall& call, int64_t queries_max);

  int64_t partial_stride() const { return 16 + stride_; }
  int64_t query_count(const AttendItem& item) const {
    return int64_t{item.token_end - item.token_begin} * group_;
  }

  /// All blocks of an item, merged as they come.
  void run(const AttendItem& item);
  /// One block's contribution into `partial` [queries][partial_stride].
  void keep(const AttendItem& item, int32_t block, float* partial);
  /// Merges the kept contributions of an item in order.
  void merge_kept(const AttendItem& item, const float* partials);

 private:
  const RowSpan& span(const AttendItem& item) const {
    return call_.table[static_cast<std::size_t>(item.row)];
  }
  const KvRowPages& pages(const AttendItem& item) const {
    return call_.desc.rows[static_cast<std::size_t>(item.row)];
  }
  int64_t head(const AttendItem& item, int64_t query) const {
    return int64_t{item.kv_head} * group_ + query % group_;
  }
  int64_t token(const AttendItem& item, int64_t query) const {
    return span(item).token_begin + item.token_begin + query / group_;
  }
  void start_states(const AttendItem& item, float* state) const;
  void finish(const AttendItem& item, const float* state) const;
  /// False when no query of the item sees any key of the block.
  bool contribution(const AttendItem& item, int32_t block, float* partial);
  bool find_visible(const AttendItem& item, int32_t block);
  /// The live keys and values of a block into f32. Other columns keep what they had and are never
  /// visible.
  void decode(const AttendItem& item, int32_t block);
  void decode_run(const AttendItem& item, int32_t position, const PageRun& run);

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

}  // namespace paceline::kernels
