#include "nn/block.h"

#include <utility>

namespace paceline::nn {

namespace mx = mlx::core;

PreNormBlock::PreNormBlock(RmsNorm attention_norm, Attention attention, RmsNorm mlp_norm,
                           GatedMlp mlp)
    : attention_norm(std::move(attention_norm)),
      attention(std::move(attention)),
      mlp_norm(std::move(mlp_norm)),
      mlp(std::move(mlp)) {}

mx::array PreNormBlock::forward(const kernels::Context& ctx, const state::Batch& batch,
                                state::StateStore& store, int32_t layer, const mx::array& x) const {
  const mx::array h = attention(ctx, batch, store, layer, attention_norm(ctx, x), x);
  return mlp(ctx, mlp_norm(ctx, h), h);
}

SandwichBlock::SandwichBlock(Norms norms, Attention attention, GatedMlp mlp)
    : norms(std::move(norms)), attention(std::move(attention)), mlp(std::move(mlp)) {}

mx::array SandwichBlock::forward(const kernels::Context& ctx, const state::Batch& batch,
                                 state::StateStore& store, int32_t layer,
                                 const mx::array& x) const {
  const mx::array mixed =
      attention(ctx, batch, store, layer, norms.before_attention(ctx, x), std::nullopt);
  const mx::array h = norms.after_attention(ctx, mixed, x);
  return norms.after_mlp(ctx, mlp(ctx, norms.before_mlp(ctx, h)), h);
}

}  // namespace paceline::nn
