#pragma once

#include <cstdint>

#include "kernels/attend_spec.h"
#include "kernels/context.h"

namespace paceline::kernels {

/// One block of 64 keys against the queries of one KV head. The order per query:
///   s_j = (one chain of fused multiply-adds over d, ascending, from 0) * scale; soft-capped c
///   tanh(s / c) m = max of the visible s_j; p_j = exp(s_j - m), 0 where not visible l = sum of
///   p_j: lane i takes keys i, i + 16, i + 32, i + 48 in this order, then the tree of Math::sum o_d
///   = one chain of fused multiply-adds over the visible keys, ascending, from 0
/// Keys that are not visible take no part, whatever their memory holds. A block of which a query
/// sees nothing leaves that query's state alone.
struct BlockArgs {
  const float* keys;            ///< [key_dim][64]
  const float* values;          ///< [64][value_stride]
  const float* const* queries;  ///< [queries] pointers to key_dim floats
  const uint64_t* visible;      ///< [queries] bit j = key j
  int64_t queries_count;
  int64_t key_dim;
  int64_t value_stride;  ///< a multiple of 16, padding zero
  float scale;
  float softcap;
  float* weights;          ///< scratch [queries][64]
  float* partial;          ///< out [queries][partial_stride]: m, l, 14 unused, then o
  int64_t partial_stride;  ///< 16 + value_stride
};

/// `tokens` stored rows, the first `dim` values of each, decoded into rows of `out_stride` floats,
/// padded with zeros.
struct StoredRows {
  const void* rows;
  KvEncoding encoding;
  int64_t tokens;
  int64_t row_stride;  ///< values between stored rows
  int64_t dim;
  float* out;
  int64_t out_stride;  ///< values: floats between rows of out; keys: columns from `out` to the
                       ///< block's end
};

/// A query's running state and a block's contribution have the form of BlockArgs::partial. m =
/// -inf, l = 0: nothing seen. Merging: m' = max(m, mb), a = exp(m - m'), b = exp(mb - m'), l' =
/// fma(lb, b, l a), o' = fma(ob, b, o a); onto a state that has seen nothing the contribution is
/// copied. Result o / l.
struct AttendTable {
  void (*block)(const BlockArgs& args);
  void (*merge)(float* state, const float* partial, int64_t value_stride);
  void (*finish)(const float* state, float* out, int64_t value_dim);
  /// Decodes stored rows (out_stride unused) into columns of keys [dim][64], the first token at
  /// `out`.
  void (*keys)(const StoredRows& rows);
  void (*values)(const StoredRows& rows);
};
const AttendTable& attend_table(Isa isa);

const AttendTable& attend_table_generic();
const AttendTable& attend_table_avx2();
const AttendTable& attend_table_avx512();

}  // namespace paceline::kernels
