#pragma once

#include <cstdint>

#include "kernels/attend_spec.h"

namespace paceline::kernels {

/// The keys a row has: [begin, end) in absolute positions.
struct LiveRange {
  int32_t begin = 0;
  int32_t end = 0;
};

/// Bit j: whether the query at q of batch row `row` sees key `block_begin + j`, for the 64 keys of
/// a block. Equal to allows() on the live keys, 0 elsewhere.
uint64_t visible_keys(const Mask& mask, int32_t row, int32_t q, int32_t block_begin,
                      LiveRange live);

/// A range that holds every key which some query of [q_begin, q_end) may see. Empty when there is
/// none.
LiveRange reach(const Mask& mask, int32_t row, int32_t q_begin, int32_t q_end, LiveRange live);

}  // namespace paceline::kernels
