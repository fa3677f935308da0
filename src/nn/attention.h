#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <optional>

#include "kernels/attend_spec.h"
#include "kernels/context.h"
#include "kernels/rope.h"
#include "nn/linear.h"
#include "state/batch.h"
#include "state/store.h"

namespace paceline::nn {

/// RMS norm with its weight [D].
struct RmsNorm {
  mlx::core::array weight;
  float eps = 1e-6F;
  float offset = 0.0F;  ///< 1 where the file stores weights zero-centred

  mlx::core::array operator()(const kernels::Context& ctx, const mlx::core::array& x,
                              const std::optional<mlx::core::array>& residual = std::nullopt) const;
};

/// Grouped-query attention of one layer: projections, optional q/k norms, rope, update, attend,
/// output projection.
struct Attention {
  int32_t heads = 0;
  int32_t kv_heads = 0;
  int32_t head_dim = 0;
  Linear q, k, v, o;
  std::optional<RmsNorm> q_norm, k_norm;  ///< over each head, [head_dim]
  kernels::RopeSpecPtr rope;
  kernels::AttendSpec spec;

  /// x [T, H] (normed) -> [T, H], plus `residual` if given. `layer` indexes the state.
  mlx::core::array operator()(const kernels::Context& ctx, const state::Batch& batch,
                              state::StateStore& store, int32_t layer, const mlx::core::array& x,
                              const std::optional<mlx::core::array>& residual) const;
};

}  // namespace paceline::nn
