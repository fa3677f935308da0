#pragma once

#include <mlx/array.h>

#include <cstdint>

#include "nn/attention.h"
#include "nn/linear.h"

namespace paceline::nn {

/// One decoder layer: x [T, H] -> [T, H].
class Block {
 public:
  virtual ~Block() = default;
  virtual mlx::core::array forward(const kernels::Context& ctx, const state::Batch& batch,
                                   state::StateStore& store, int32_t layer,
                                   const mlx::core::array& x) const = 0;
};

/// h = x + attention(norm(x)); h + mlp(norm(h)).
struct PreNormBlock final : Block {
  RmsNorm attention_norm;
  Attention attention;
  RmsNorm mlp_norm;
  GatedMlp mlp;

  PreNormBlock(RmsNorm attention_norm, Attention attention, RmsNorm mlp_norm, GatedMlp mlp);
  mlx::core::array forward(const kernels::Context& ctx, const state::Batch& batch,
                           state::StateStore& store, int32_t layer,
                           const mlx::core::array& x) const override;
};

/// h = x + norm(attention(norm(x))); h + norm(mlp(norm(h))).
struct SandwichBlock final : Block {
  struct Norms {
    RmsNorm before_attention, after_attention, before_mlp, after_mlp;
  };
  Norms norms;
  Attention attention;
  GatedMlp mlp;

  SandwichBlock(Norms norms, Attention attention, GatedMlp mlp);
  mlx::core::array forward(const kernels::Context& ctx, const state::Batch& batch,
                           state::StateStore& store, int32_t layer,
                           const mlx::core::array& x) const override;
};

}  // namespace paceline::nn
