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

/// First byte of a token of one KV head in a page of `dim` features a token.
inline std::byte* page_row(std::byte* page, const KvDesc& desc, int64_t dim, int32_t kv_head,
                           int32_t slot) {
  const int64_t token = int64_t{kv_head} * desc.page_tokens + slot;
  return page + token * dim * kv_item_bytes(desc.encoding);
}

}  // namespace paceline::kernels
