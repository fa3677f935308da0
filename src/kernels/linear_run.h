#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>

#include "kernels/context.h"
#include "kernels/linear_kernel.h"
#include "kernels/linear_weight.h"

/// What operations with matrix products share while they run.
namespace paceline::kernels {

/// x [rows, weight.inputs()] times the whole weight into out [rows, weight.outputs()], without
/// panel, bias or residual yet.
LinearArgs make_args(const float* x, int64_t rows, const LinearWeight& weight, float* out);

/// x as codes in ctx.workspace, if one of the weights is multiplied by codes.
std::optional<packed::Panel> panel_for(const Context& ctx, const float* x, int64_t rows,
                                       std::initializer_list<const LinearWeight*> weights);

/// body(begin, end) over the output tiles [0, tiles), on the pool unless there is too little to do.
void over_tiles(const Context& ctx, const LinearArgs& args, int64_t tiles,
                const std::function<void(int64_t, int64_t)>& body);

}  // namespace paceline::kernels
