#pragma once

#include <mlx/array.h>

#include <vector>

#include "kernels/attend_spec.h"
#include "kernels/context.h"

namespace paceline::kernels {

/// Writes k [T, kv_heads, key_dim] and v [T, kv_heads, value_dim] f32 of every row of `table` at
/// its positions into the pages of `desc` (bf16, f16: round to nearest even). Returns an effect
/// token (i32 [1]) that readers take as input; `previous` is the token of an earlier write that
/// must come first. Slots outside the rows are not touched.
mlx::core::array kv_write(const Context& ctx, const mlx::core::array& k, const mlx::core::array& v,
                          const RowTablePtr& table, const KvDescPtr& desc);

/// Attention of q [T, heads, key_dim] f32 over the pages; returns [T, heads, value_dim] f32. Query
/// head h reads KV head h / (heads / kv_heads). Keys visible to a query: live_begin <= k < live_end
/// and allows(spec.mask, row, q, k). Order (design rule 2): absolute blocks of kAttendBlock keys;
/// scores of a block are dot products with one fma chain over d; a block is reduced against its own
/// maximum; blocks merge left to right, sinks first. A query's bits do not depend on the other
/// rows, the slice it came in, page size, threads or instruction set. A query that sees
/// nothing gives zeros. The order in full: attend_kernel.h.
mlx::core::array attend(const Context& ctx, const mlx::core::array& q,
                        const mlx::core::array& effect, const RowTablePtr& table,
                        const KvDescPtr& desc, const AttendSpec& spec);

/// One row's keys and values from live_begin to live_end, decoded: {[K, kv_heads, key_dim], [K,
/// kv_heads, value_dim]}.
std::vector<mlx::core::array> kv_gather(const Context& ctx, const mlx::core::array& effect,
                                        int32_t row, const KvDescPtr& desc);

/// The same attention from plain MLX operations over decoded keys and values of one batch row: the
/// specification. q [L, heads, key_dim] at positions start..start+L-1; keys [K, kv_heads, key_dim]
/// at first_position...
/// With v_from_k only the width of `values` counts.
mlx::core::array attend_portable(const mlx::core::array& q, const mlx::core::array& keys,
                                 const mlx::core::array& values, const RowSpan& span, int32_t row,
                                 int32_t first_position, const AttendSpec& spec);

}  // namespace paceline::kernels
