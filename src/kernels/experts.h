#pragma once

#include <mlx/array.h>

#include <memory>
#include <vector>

#include "kernels/linear.h"

namespace paceline::kernels {

/// One weight [N, K] per expert, all of one shape.
using ExpertWeights = std::shared_ptr<const std::vector<LinearWeight>>;

/// y[r] = x[r] W(e)^T with e = expert_of_row[r]: x [R, K] f32, expert_of_row i32 [R]; returns [R,
/// N] f32. Rows are gathered by expert, so every expert's weights pass once. Bits of a row:
/// linear() of that row alone. Rows of an expert that does not exist are zeros. Throws
/// Error{invalid_argument} on a shape or dtype mismatch.
mlx::core::array expert_linear(const Context& ctx, const mlx::core::array& x,
                               const ExpertWeights& weights, const mlx::core::array& expert_of_row);

/// The same for gated_linear().
mlx::core::array expert_gated_linear(const Context& ctx, const mlx::core::array& x,
                                     const ExpertWeights& gates, const ExpertWeights& ups,
                                     const mlx::core::array& expert_of_row, Activation activation);

/// y[t] = sum over slots of weights[t, s] * x[t, s]: x [T, S, N], weights [T, S] f32 -> [T, N].
/// Order (design rule 6): acc = fma(weights[t, s], x[t, s], acc) from 0, slots in the router's
/// order.
mlx::core::array slot_sum(const Context& ctx, const mlx::core::array& x,
                          const mlx::core::array& weights);

}  // namespace paceline::kernels
