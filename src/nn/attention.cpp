#include "nn/attention.h"

#include "array/cpu_primitive.h"
#include "kernels/norm.h"

namespace paceline::nn {

namespace mx = mlx::core;

mx::array RmsNorm::operator()(const kernels::Context& ctx, const mx::array& x,
                              const std::optional<mx::array>& residual) const {
  return kernels::rms_norm(ctx, x, weight, eps, offset, residual);
}

mx::array Attention::operator()(const kernels::Context& ctx, const state::Batch& batch,
                                state::StateStore& store, int32_t layer, const mx::array& x,
                                const std::optional<mx::array>& residual) const {
  const int32_t tokens = batch.token_count();
  const auto projected = kernels::linear_each(ctx, x, {q.part(), k.part(), v.part()});
  mx::array queries = array::reshape(projected[0], {tokens, heads, head_dim});
  mx::array keys = array::reshape(projected[1], {tokens, kv_heads, head_dim});
  const mx::array values = array::reshape(projected[2], {tokens, kv_heads, head_dim});
  if (q_norm) queries = (*q_norm)(ctx, queries);
  if (k_norm) keys = (*k_norm)(ctx, keys);
  queries = kernels::rope(ctx, queries, batch.position_array(), rope);
  keys = kernels::rope(ctx, keys, batch.position_array(), rope);
  const state::KvHistoryPtr history = store.update(layer, batch, keys, values);
  const mx::array mixed = history->attend(batch, queries, spec);  // [T, heads, head_dim]
  return o(ctx, array::reshape(mixed, {tokens, heads * head_dim}), residual);
}

}  // namespace paceline::nn
