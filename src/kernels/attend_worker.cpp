#include "kernels/attend_worker.h"

#include <algorithm>
#include <limits>

#include "kernels/attend_mask.h"
#include "kernels/kv_codec.h"

namespace paceline::kernels {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

std::size_t size(int64_t count) { return static_cast<std::size_t>(count); }

}  // namespace

int64_t attend_state_stride(const KvDesc& desc) { return 16 + (desc.value_dim + 15) / 16 * 16; }

AttendWorker::AttendWorker(const AttendCall& call, const AttendPlan& plan, float* kept)
    : call_(call),
      plan_(plan),
      table_(attend_table(call.ctx.isa)),
      kept_(kept),
      group_(call.heads / call.desc.kv_heads),
      state_stride_(attend_state_stride(call.desc)),
      in_place_(key_lanes(call.desc) == kKeyLanes && !call.spec.v_from_k),
      weights_(size(int64_t{plan.queries_max} * kAttendBlock)),
      states_(size(plan.queries_max * state_stride_)),
      queries_(size(plan.queries_max)),
      visible_(size(plan.queries_max)) {
  if (in_place_) return;
  const int64_t token_bytes = kv_item_bytes(call.desc.encoding);
  keys_.resize(size(call.desc.key_dim * kAttendBlock * token_bytes));
  values_.resize(size(call.desc.value_dim * kAttendBlock * token_bytes));
}

void AttendWorker::run(int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; ++i) {
    run_piece(plan_.pieces[size(i)], plan_.pieces[size(std::min(i + 1, end - 1))]);
  }
}

void AttendWorker::run_piece(const AttendPiece& piece, const AttendPiece& after) {
  const AttendItem& item = item_of(piece);
  const int64_t queries = query_count(item);
  for (int64_t i = 0; i < queries; ++i) {
    queries_[size(i)] =
        call_.q + (token(item, i) * call_.heads + head(item, i)) * call_.desc.key_dim;
  }
  const bool first = piece.block_begin == item.block_begin;
  float* states = piece.kept < 0 ? states_.data() : kept_ + piece.kept * state_stride_;
  if (first) start_states(item, states, true);
  KvBlock here = locate(item, piece.block_begin);
  for (int32_t block = piece.block_begin; block < piece.block_end; ++block) {
    if (!first) start_states(item, states, false);
    const KvBlock next = block + 1 < piece.block_end ? locate(item, block + 1)
                                                     : locate(item_of(after), after.block_begin);
    if (find_visible(item, block)) {
      if (!in_place_) here = copy(item, block);
      run_block(item, here, next.keys[0] != nullptr ? next : here, states);
    }
    if (!first) states += queries * state_stride_;
    here = next;
  }
  if (piece.kept < 0) finish(item, states);
}

void AttendWorker::merge_kept(int32_t piece) {
  const AttendPiece* at = &plan_.pieces[size(piece)];
  const AttendItem& item = item_of(*at);
  const int64_t queries = query_count(item);
  float* states = kept_ + at->kept * state_stride_;
  // The item's later pieces follow it, in the plan and in memory.
  const float* other = states + queries * state_stride_;
  for (int32_t block = at->block_end; block < item.block_end; ++block) {
    for (int64_t i = 0; i < queries; ++i, other += state_stride_) {
      table_.merge(states + i * state_stride_, other, call_.desc.value_dim);
    }
  }
  finish(item, states);
}

void AttendWorker::start_states(const AttendItem& item, float* states, bool with_sinks) const {
  const auto& sinks = call_.spec.sinks;
  for (int64_t i = 0; i < query_count(item); ++i, states += state_stride_) {
    states[0] = kNothing;
    states[1] = 0.0F;
    if (!with_sinks || sinks.empty()) continue;
    states[0] = sinks[size(head(item, i))];
    states[1] = 1.0F;
    std::fill(states + 16, states + state_stride_, 0.0F);
  }
}

void AttendWorker::finish(const AttendItem& item, const float* states) const {
  for (int64_t i = 0; i < query_count(item); ++i, states += state_stride_) {
    float* out = call_.out + (token(item, i) * call_.heads + head(item, i)) * call_.desc.value_dim;
    table_.finish(states, out, call_.desc.value_dim);
  }
}

void AttendWorker::run_block(const AttendItem& item, const KvBlock& block, const KvBlock& next,
                             float* states) {
  table_.block({.encoding = call_.desc.encoding,
                .block = &block,
                .next = &next,
                .queries = queries_.data(),
                .visible = visible_.data(),
                .count = query_count(item),
                .key_dim = call_.desc.key_dim,
                .value_dim = call_.desc.value_dim,
                .scale = call_.spec.scale,
                .softcap = call_.spec.softcap,
                .weights = weights_.data(),
                .states = states,
                .state_stride = state_stride_});
}

bool AttendWorker::find_visible(const AttendItem& item, int32_t block) {
  const LiveRange live{pages(item).live_begin, pages(item).live_end};
  uint64_t any = 0;
  for (int64_t i = 0; i < query_count(item); i += group_) {
    const auto position = static_cast<int32_t>(span(item).start + item.token_begin + i / group_);
    const uint64_t bits =
        visible_keys(call_.spec.mask, item.row, position, block * kAttendBlock, live);
    std::fill_n(visible_.begin() + i, group_, bits);
    any |= bits;
  }
  return any != 0;
}

KvBlock AttendWorker::locate(const AttendItem& item, int32_t block) const {
  const KvRowPages& row = pages(item);
  const KvDesc& desc = call_.desc;
  KvBlock result{};
  if (!in_place_) return result;
  for (int32_t g = 0; g < kBlockGroups; ++g) {
    const int32_t position = block * kAttendBlock + g * kKeyLanes;
    // A group without live keys takes the place of any other: it is never visible.
    const int32_t live =
        std::clamp(position, row.live_begin, std::max(row.live_begin, row.live_end - 1));
    const PageRun run = page_run(desc, row, live / kKeyLanes * kKeyLanes, INT32_MAX);
    const auto page = size(run.page);
    if (page >= row.keys.size()) continue;
    result.keys[g] = key_at(row.keys[page], desc, item.kv_head, run.slot);
    result.values[g] = value_at(row.values[page], desc, item.kv_head, run.slot);
  }
  return result;
}

KvBlock AttendWorker::copy(const AttendItem& item, int32_t block) {
  const KvRowPages& row = pages(item);
  const int32_t begin = std::max(block * kAttendBlock, row.live_begin);
  const int32_t end = std::min((block + 1) * kAttendBlock, row.live_end);
  for (int32_t position = begin; position < end; ++position) copy_token(item, position);
  const int64_t group_bytes = kKeyLanes * kv_item_bytes(call_.desc.encoding);
  KvBlock result{};
  for (int32_t g = 0; g < kBlockGroups; ++g) {
    result.keys[g] = keys_.data() + g * call_.desc.key_dim * group_bytes;
    result.values[g] = values_.data() + g * call_.desc.value_dim * group_bytes;
  }
  return result;
}

void AttendWorker::copy_token(const AttendItem& item, int32_t position) {
  const KvRowPages& row = pages(item);
  const KvDesc& desc = call_.desc;
  const int64_t bytes = kv_item_bytes(desc.encoding);
  const int64_t group = position % kAttendBlock / kKeyLanes, lane = position % kKeyLanes;
  const PageRun run = page_run(desc, row, position, position + 1);
  const std::byte* key = key_at(row.keys[size(run.page)], desc, item.kv_head, run.slot);
  kv_copy(key, key_lanes(desc), desc.key_dim, desc.encoding,
          keys_.data() + (group * desc.key_dim * kKeyLanes + lane) * bytes, kKeyLanes);
  std::byte* value = values_.data() + (group * kKeyLanes + lane) * desc.value_dim * bytes;
  if (call_.spec.v_from_k) {
    kv_copy(key, key_lanes(desc), desc.value_dim, desc.encoding, value, 1);
  } else {
    kv_copy(value_at(row.values[size(run.page)], desc, item.kv_head, run.slot), 1, desc.value_dim,
            desc.encoding, value, 1);
  }
}

}  // namespace paceline::kernels
