#include "kernels/attend_worker.h"

#include <algorithm>
#include <limits>

#include "kernels/attend_mask.h"
#include "kernels/kv_pages.h"

namespace paceline::kernels {

AttendWorker::AttendWorker(const AttendCall& call, int64_t queries_max)
    : call_(call),
      table_(attend_table(call.ctx.isa)),
      group_(call.heads / call.desc.kv_heads),
      stride_((call.desc.value_dim + 15) / 16 * 16),
      keys_(static_cast<std::size_t>(call.desc.key_dim) * kAttendBlock),
      values_(static_cast<std::size_t>(stride_) * kAttendBlock),
      weights_(static_cast<std::size_t>(queries_max) * kAttendBlock),
      partial_(static_cast<std::size_t>(queries_max * partial_stride())),
      state_(partial_.size()),
      queries_(static_cast<std::size_t>(queries_max)),
      visible_(static_cast<std::size_t>(queries_max)) {}

void AttendWorker::run(const AttendItem& item) {
  const int64_t queries = query_count(item);
  start_states(item, state_.data());
  for (int32_t block = item.block_begin; block < item.block_end; ++block) {
    if (!contribution(item, block, partial_.data())) continue;
    for (int64_t i = 0; i < queries; ++i) {
      table_.merge(state_.data() + i * partial_stride(), partial_.data() + i * partial_stride(),
                   stride_);
    }
  }
  finish(item, state_.data());
}

void AttendWorker::keep(const AttendItem& item, int32_t block, float* partial) {
  if (contribution(item, block, partial)) return;
  for (int64_t i = 0; i < query_count(item); ++i) {
    partial[i * partial_stride()] = -std::numeric_limits<float>::infinity();
  }
}

void AttendWorker::merge_kept(const AttendItem& item, const float* partials) {
  const int64_t size = query_count(item) * partial_stride();
  start_states(item, state_.data());
  for (int32_t block = item.block_begin; block < item.block_end; ++block, partials += size) {
    for (int64_t i = 0; i < size; i += partial_stride()) {
      table_.merge(state_.data() + i, partials + i, stride_);
    }
  }
  finish(item, state_.data());
}

void AttendWorker::start_states(const AttendItem& item, float* state) const {
  const auto& sinks = call_.spec.sinks;
  for (int64_t i = 0; i < query_count(item); ++i, state += partial_stride()) {
    std::fill(state, state + partial_stride(), 0.0F);
    state[0] = -std::numeric_limits<float>::infinity();
    if (sinks.empty()) continue;
    state[0] = sinks[static_cast<std::size_t>(head(item, i))];
    state[1] = 1.0F;
  }
}

void AttendWorker::finish(const AttendItem& item, const float* state) const {
  for (int64_t i = 0; i < query_count(item); ++i) {
    float* out = call_.out + (token(item, i) * call_.heads + head(item, i)) * call_.desc.value_dim;
    table_.finish(state + i * partial_stride(), out, call_.desc.value_dim);
  }
}

bool AttendWorker::contribution(const AttendItem& item, int32_t block, float* partial) {
  if (!find_visible(item, block)) return false;
  decode(item, block);
  const int64_t queries = query_count(item);
  for (int64_t i = 0; i < queries; ++i) {
    queries_[static_cast<std::size_t>(i)] =
        call_.q + (token(item, i) * call_.heads + head(item, i)) * call_.desc.key_dim;
  }
  table_.block({.keys = keys_.data(),
                .values = values_.data(),
                .queries = queries_.data(),
                .visible = visible_.data(),
                .queries_count = queries,
                .key_dim = call_.desc.key_dim,
                .value_stride = stride_,
                .scale = call_.spec.scale,
                .softcap = call_.spec.softcap,
                .weights = weights_.data(),
                .partial = partial,
                .partial_stride = partial_stride()});
  return true;
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

void AttendWorker::decode(const AttendItem& item, int32_t block) {
  const KvRowPages& row = pages(item);
  int32_t position = std::max(block * kAttendBlock, row.live_begin);
  const int32_t end = std::min((block + 1) * kAttendBlock, row.live_end);
  while (position < end) {
    const PageRun run = page_run(call_.desc, row, position, end);
    decode_run(item, position, run);
    position += run.count;
  }
}

void AttendWorker::decode_run(const AttendItem& item, int32_t position, const PageRun& run) {
  const KvRowPages& row = pages(item);
  const KvDesc& desc = call_.desc;
  const auto page = static_cast<std::size_t>(run.page);
  const int64_t column = position % kAttendBlock;
  const std::byte* key = page_row(row.keys[page], desc, desc.key_dim, item.kv_head, run.slot);
  table_.keys({.rows = key,
               .encoding = desc.encoding,
               .tokens = run.count,
               .row_stride = desc.key_dim,
               .dim = desc.key_dim,
               .out = keys_.data() + column,
               .out_stride = kAttendBlock - column});
  const bool shared = call_.spec.v_from_k;
  const int64_t dim = shared ? desc.key_dim : desc.value_dim;
  const std::byte* value =
      shared ? key : page_row(row.values[page], desc, dim, item.kv_head, run.slot);
  table_.values({.rows = value,
                 .encoding = desc.encoding,
                 .tokens = run.count,
                 .row_stride = dim,
                 .dim = desc.value_dim,
                 .out = values_.data() + column * stride_,
                 .out_stride = stride_});
}

}  // namespace paceline::kernels
