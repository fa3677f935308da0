#include "kernels/attend_plan.h"

#include <algorithm>

#include "kernels/attend_mask.h"

namespace paceline::kernels {
namespace {

/// Query heads of an item: enough to pay for bringing a block into L1, few enough for their scores
/// and states to stay near.
constexpr int32_t kTileQueries = 48;
/// Reading a block costs about as much as the products of so many queries.
constexpr int64_t kReadCost = 2;
/// Less is done before another thread has taken its share.
constexpr int64_t kForkProducts = 65536;

int32_t block_of(int32_t position) { return position / kAttendBlock; }

/// Tiles of tokens x KV heads of every row; items with more keys come later in a row.
std::vector<AttendItem> make_items(const AttendCall& call) {
  std::vector<AttendItem> items;
  const int32_t tile = std::max(1, kTileQueries / std::max(1, call.heads / call.desc.kv_heads));
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
        items.push_back({row, begin, end, head, block_begin, block_end});
      }
    }
  }
  return items;
}

/// Adds pieces to a plan whose items are known.
class Cutter {
 public:
  Cutter(AttendPlan& plan, int32_t group) : plan_(plan), group_(group) {
    for (const AttendItem& item : plan.items) total_ += item.blocks() * block_cost(item);
  }

  void cut(int parts) {
    plan_.part_begin = {0};
    for (std::size_t i = 0; i < plan_.items.size(); ++i) {
      const AttendItem& item = plan_.items[i];
      const int64_t cost = block_cost(item);
      int32_t begin = item.block_begin;
      while (static_cast<int>(plan_.part_begin.size()) < parts) {
        const int64_t left = part_end(parts) - done_;
        const int64_t blocks = (left + cost / 2) / cost;
        if (blocks >= item.block_end - begin) break;
        if (blocks > 0) {
          add(i, begin, begin + static_cast<int32_t>(blocks));
          begin += static_cast<int32_t>(blocks);
          done_ += blocks * cost;
        }
        plan_.part_begin.push_back(static_cast<int32_t>(plan_.pieces.size()));
      }
      done_ += (item.block_end - begin) * cost;
      add(i, begin, item.block_end);
    }
    plan_.part_begin.push_back(static_cast<int32_t>(plan_.pieces.size()));
  }

 private:
  int64_t queries(const AttendItem& item) const {
    return int64_t{item.token_end - item.token_begin} * group_;
  }
  int64_t block_cost(const AttendItem& item) const { return queries(item) + kReadCost; }
  /// Where the part that is being filled should end.
  int64_t part_end(int parts) const {
    return total_ * static_cast<int64_t>(plan_.part_begin.size()) / parts;
  }

  void add(std::size_t at, int32_t begin, int32_t end) {
    const AttendItem& item = plan_.items[at];
    AttendPiece piece{static_cast<int32_t>(at), begin, end, -1};
    if (begin > item.block_begin || end < item.block_end) {
      piece.kept = plan_.kept_states;
      plan_.kept_states += queries(item) * (begin == item.block_begin ? 1 : end - begin);
    }
    plan_.pieces.push_back(piece);
  }

  AttendPlan& plan_;
  int64_t group_;
  int64_t total_ = 0;
  int64_t done_ = 0;
};

}  // namespace

AttendPlan plan_attend(const AttendCall& call, int parts) {
  AttendPlan plan{.items = make_items(call), .pieces = {}, .part_begin = {}};
  const int32_t group = call.heads / call.desc.kv_heads;
  int64_t products = 0;
  for (const AttendItem& item : plan.items) {
    const int32_t queries = (item.token_end - item.token_begin) * group;
    plan.queries_max = std::max(plan.queries_max, queries);
    products +=
        int64_t{queries} * item.blocks() * kAttendBlock * (call.desc.key_dim + call.desc.value_dim);
  }
  Cutter(plan, group).cut(products > kForkProducts ? parts : 1);
  return plan;
}

}  // namespace paceline::kernels
