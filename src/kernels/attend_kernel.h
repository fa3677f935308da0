#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attend_spec.h"
#include "kernels/context.h"

namespace paceline::kernels {

/// A block in groups of kKeyLanes tokens, as pages hold them.
inline constexpr int32_t kBlockGroups = kAttendBlock / kKeyLanes;

/// Where the 64 keys and values of a block lie. Group g holds its tokens 16 g..16 g + 15: stored
/// keys [key_dim][16], stored values [16][value_dim]. A group without visible keys points anywhere
/// that can be read.
struct KvBlock {
  const std::byte* keys[kBlockGroups];
  const std::byte* values[kBlockGroups];
};

/// One block of 64 keys against the queries of one KV head, merged into the queries' states. The
/// order per query:
///   s_j = (one chain of fused multiply-adds over d, ascending, from 0) * scale; soft-capped
///   c tanh(s / c)
///   m = max of the visible s_j; p_j = exp(s_j - m)
///   l = sum of p_j, 0 where not visible: lane i takes keys i, i + 16, i + 32, i + 48 in this
///   order, then the tree of V::sum
///   o_d = one chain of fused multiply-adds p_j v_jd over the visible keys, ascending, from 0
/// Keys that are not visible take no part, whatever their memory holds. A block of which a query
/// sees nothing, or only scores of -inf or NaN, leaves that query's state alone.
///
/// State [16 + value_dim rounded up to 16]: m, l, scratch, then o from element 16. m = -inf, l = 0:
/// nothing seen; such a state takes the block's m, l, o as they are. Else m' = max(m, mb),
/// a = exp(m - m'), b = exp(mb - m'), l' = fma(lb, b, l a), o' = fma(ob, b, o a). Result o / l.
struct BlockArgs {
  KvEncoding encoding;
  const KvBlock* block;
  const KvBlock* next;          ///< read soon: prefetched
  const float* const* queries;  ///< [count] pointers to key_dim floats
  uint64_t* visible;            ///< [count] bit j = key j; scratch afterwards
  int64_t count;
  int64_t key_dim;
  int64_t value_dim;
  float scale;
  float softcap;
  float* weights;  ///< scratch [count][64]
  float* states;   ///< [count][state_stride]
  int64_t state_stride;
};

struct AttendTable {
  void (*block)(const BlockArgs& args);
  /// Merges `other`, a state that has seen the block or blocks that follow, into `state`.
  void (*merge)(float* state, const float* other, int64_t value_dim);
  void (*finish)(const float* state, float* out, int64_t value_dim);
};
const AttendTable& attend_table(Isa isa);

const AttendTable& attend_table_generic();
const AttendTable& attend_table_avx2();
const AttendTable& attend_table_avx512();

}  // namespace paceline::kernels
