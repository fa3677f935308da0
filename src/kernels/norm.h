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

/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * weight over the last axis of x (f32, any
/// rank), then + bias if given. weight, bias [D] f32.
/// Order: lane i of 16 adds x[i], x[i + 16], ... from 0, the lanes are added as in rms_norm, mean =
/// sum / D; d = x - mean; the squares of d as in rms_norm; r = 1 / sqrt(sum / D + eps); y = (d r)
/// weight (+ bias), one rounding per operation. Rows are independent as in rms_norm.
mlx::core::array layer_norm(const Context& ctx, const mlx::core::array& x,
                            const mlx::core::array& weight,
                            const std::optional<mlx::core::array>& bias, float eps);

/// x - ln(sum of exp(x)) over the last axis of x (f32, any rank). -inf stays -inf; a row with NaN
/// or +inf, or of -inf alone, is NaN.
/// Order: m = the greatest of the row; lane i of 16 adds exp(x[i] - m), exp(x[i + 16] - m), ...
/// from 0, the lanes are added as in rms_norm; l = ln(sum) in double, rounded once; y = (x - m) -
/// l. Rows are independent as in rms_norm.
mlx::core::array log_softmax(const Context& ctx, const mlx::core::array& x);

/// a + b, same shape, f32.
mlx::core::array add(const Context& ctx, const mlx::core::array& a, const mlx::core::array& b);

/// cap * tanh(x / cap).
mlx::core::array softcap(const Context& ctx, const mlx::core::array& x, float cap);

}  // namespace paceline::kernels
