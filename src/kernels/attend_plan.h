#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attend_run.h"

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

  int32_t blocks() const { return block_end - block_begin; }
};

/// Blocks of one item that one thread works on.
struct AttendPiece {
  int32_t item = 0;
  int32_t block_begin = 0;
  int32_t block_end = 0;
  /// Where the states of the piece are kept, in states; -1: it holds all blocks of its item. The
  /// first piece of an item merges its blocks into one state per query; later ones keep one state
  /// per query and block, since blocks merge in order.
  int64_t kept = -1;
};

/// The work of a call in order, cut into parts of equal cost: pieces [part_begin[p], part_begin[p +
/// 1]) are part p.
struct AttendPlan {
  std::vector<AttendItem> items;
  std::vector<AttendPiece> pieces;
  std::vector<int32_t> part_begin;  ///< [parts + 1]
  int64_t kept_states = 0;
  int32_t queries_max = 0;  ///< of an item
};

/// `parts` at most; fewer when the call is too small to share.
AttendPlan plan_attend(const AttendCall& call, int parts);

}  // namespace paceline::kernels
