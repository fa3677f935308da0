#pragma once

#include <mlx/array.h>

#include <optional>

#include "kernels/context.h"
#include "kernels/linear.h"

namespace paceline::nn {

/// y = x W^T (+ bias).
struct Linear {
  kernels::LinearWeight weight;
  std::optional<mlx::core::array> bias;

  mlx::core::array operator()(const kernels::Context& ctx, const mlx::core::array& x,
                              const std::optional<mlx::core::array>& residual = std::nullopt) const {
    return kernels::linear(ctx, x, weight, bias, residual);
  }
};

/// down(act(gate x) * up x).
struct GatedMlp {
  kernels::LinearWeight gate, up, down;
  kernels::Activation activation = kernels::Activation::silu;

  mlx::core::array operator()(const kernels::Context& ctx, const mlx::core::array& x,
                              const std::optional<mlx::core::array>& residual = std::nullopt) const {
    return kernels::linear(ctx, kernels::gated_linear(ctx, x, gate, up, activation), down, std::nullopt, residual);
  }
};

}  // namespace paceline::nn
