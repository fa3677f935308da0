#pragma once

#include <mlx/array.h>

#include <optional>

#include "kernels/context.h"

namespace paceline::kernels {

/// x / sqrt(mean(x^2) + eps) * (weight + weight_offset) over the last axis of x (f32, any rank);
/// then + residual (shape of x) if given. weight [D] f32. weight_offset is 1 for weights stored
/// zero-centred (Gemma safetensors).
/// Order: lane i of 16 takes x[i], x[i + 16], ... by one chain acc = fma(x, x, acc) from 0; the
/// lanes are added as i + (i + 8), then + 4, + 2, + 1; r = 1 / sqrt(sum / D + eps); y = (x r)
/// (weight + offset) (+ residual), one rounding per operation. Bits of a row do not depend on the
/// other rows, threads or instruction set.
mlx::core::array rms_norm(const Context& ctx, const mlx::core::array& x,
                          const mlx::core::array& weight, float eps, float weight_offset = 0.0F,
                          const std::optional<mlx::core::array>& residual = std::nullopt);

/// a + b, same shape, f32.
mlx::core::array add(const Context& ctx, const mlx::core::array& a, const mlx::core::array& b);

/// cap * tanh(x / cap).
mlx::core::array softcap(const Context& ctx, const mlx::core::array& x, float cap);

}  // namespace paceline::kernels
