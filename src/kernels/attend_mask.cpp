#include "kernels/attend_mask.h"

#include <algorithm>

namespace paceline::kernels {
namespace {

bool applies(const MaskRectangle& r, int32_t row, int32_t q) {
  return r.row == row && q >= r.q_begin && q < r.q_end;
}

/// Bits of the keys [begin, end) of the block at `block_begin`.
uint64_t bits_of(int64_t begin, int64_t end, int64_t block_begin) {
  const int64_t low = std::clamp<int64_t>(begin - block_begin, 0, kAttendBlock);
  const int64_t high = std::clamp<int64_t>(end - block_begin, 0, kAttendBlock);
  if (low >= high) return 0;
  return (~uint64_t{0} >> (kAttendBlock - (high - low))) << low;
}

/// The first key a window lets a query see.
int64_t window_begin(const Mask& mask, int64_t q) {
  return mask.window > 0 ? q - mask.window + 1 : INT32_MIN;
}

}  // namespace

bool allows(const Mask& mask, int32_t row, int32_t q, int32_t k) {
  if (k < window_begin(mask, q)) return false;
  if (!mask.causal || k <= q) return true;
  return std::any_of(mask.relaxed.begin(), mask.relaxed.end(), [&](const MaskRectangle& r) {
    return applies(r, row, q) && k >= r.k_begin && k < r.k_end;
  });
}

uint64_t visible_keys(const Mask& mask, int32_t row, int32_t q, int32_t block_begin,
                      LiveRange live) {
  const int64_t begin = std::max<int64_t>(live.begin, window_begin(mask, q));
  if (!mask.causal) return bits_of(begin, live.end, block_begin);
  uint64_t bits = bits_of(begin, std::min<int64_t>(live.end, int64_t{q} + 1), block_begin);
  for (const auto& r : mask.relaxed) {
    if (!applies(r, row, q)) continue;
    bits |= bits_of(std::max<int64_t>(begin, r.k_begin), std::min(live.end, r.k_end), block_begin);
  }
  return bits;
}

LiveRange reach(const Mask& mask, int32_t row, int32_t q_begin, int32_t q_end, LiveRange live) {
  LiveRange result = live;
  result.begin = static_cast<int32_t>(std::max<int64_t>(live.begin, window_begin(mask, q_begin)));
  if (mask.causal) {
    int32_t end = q_end;  // the last query sees itself
    for (const auto& r : mask.relaxed) {
      if (r.row == row && r.q_begin < q_end && r.q_end > q_begin) end = std::max(end, r.k_end);
    }
    result.end = std::min(live.end, end);
  }
  if (result.end < result.begin) result.end = result.begin;
  return result;
}

}  // namespace paceline::kernels
