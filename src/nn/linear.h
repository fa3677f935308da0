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

  mlx::core::array operator()(
      const kernels::Context& ctx, const mlx::core::array& x,
      const std::optional<mlx::core::array>& residual = std::nullopt) const {
    return kernels::linear(ctx, x, weight, bias, residual);
  }
  kernels::LinearPart part() const { return {weight, bias}; }
};

/// down(act(gate x) * up x).
struct GatedMlp {
  Linear gate, up, down;
  kernels::Activation activation = kernels::Activation::silu;

  mlx::core::array operator()(
      const kernels::Context& ctx, const mlx::core::array& x,
      const std::optional<mlx::core::array>& residual = std::nullopt) const {
    const kernels::GatedBias bias{.gate = gate.bias, .up = up.bias};
    return down(ctx, kernels::gated_linear(ctx, x, gate.weight, up.weight, activation, bias),
                residual);
  }
};

}  // namespace paceline::nn
