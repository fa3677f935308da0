#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/attend_spec.h"

namespace paceline::kernels {

inline int64_t kv_item_bytes(KvEncoding encoding) { return encoding == KvEncoding::f32 ? 4 : 2; }

/// A run of tokens that lie side by side in one page.
struct PageRun {
  int32_t page = 0;
  int32_t slot = 0;
  int32_t count = 0;
};

/// The run that starts at `position` and ends at `end`, or where its page does.
inline PageRun page_run(const KvDesc& desc, const KvRowPages& row, int32_t position, int32_t end) {
  const int32_t at = position - row.first_position;
  const int32_t slot = at % desc.page_tokens;
  return {at / desc.page_tokens, slot, std::min(end - position, desc.page_tokens - slot)};
}

/// Tokens of a group of keys: features of one key lie so many values apart.
inline int32_t key_lanes(const KvDesc& desc) {
  return desc.page_tokens % kKeyLanes == 0 ? kKeyLanes : desc.page_tokens;
}

/// The first feature of a key in a page.
inline std::byte* key_at(std::byte* page, const KvDesc& desc, int32_t kv_head, int32_t slot) {
  const int64_t lanes = key_lanes(desc);
  const int64_t lane = lanes == kKeyLanes ? slot % kKeyLanes : slot;
  const int64_t group_begin = int64_t{kv_head} * desc.page_tokens + slot - lane;
  return page + (group_begin * desc.key_dim + lane) * kv_item_bytes(desc.encoding);
}

/// The first feature of a value in a page; the others follow it.
inline std::byte* value_at(std::byte* page, const KvDesc& desc, int32_t kv_head, int32_t slot) {
  const int64_t token = int64_t{kv_head} * desc.page_tokens + slot;
  return page + token * desc.value_dim * kv_item_bytes(desc.encoding);
}

}  // namespace paceline::kernels
