#include <mlx/ops.h>

#include <algorithm>

#include "array/cpu_primitive.h"
#include "kernels/check.h"
#include "kernels/linear.h"
#include "kernels/linear_kernel.h"
#include "kernels/linear_weight.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

void copy_row(const Context& ctx, const LinearWeight& table, int32_t token, float scale,
              float* out) {
  const LinearWeight::Impl& weight = table.impl();
  if (token < 0 || token >= weight.outputs) {
    std::fill_n(out, weight.inputs, 0.0F);
    return;
  }
  const uint8_t* tile =
      weight.tiles.get() + token / packed::kTileOutputs * weight.layout.tile_bytes(weight.inputs);
  linear_table(ctx.isa).row(weight.layout, tile, token % packed::kTileOutputs, weight.inputs, scale,
                            out);
}

mx::array embed_portable(const mx::array& tokens, const LinearWeight& table, float scale) {
  const auto known =
      mx::logical_and(mx::greater_equal(tokens, mx::array(0)),
                      mx::less(tokens, mx::array(static_cast<int>(table.outputs()))));
  const auto rows =
      mx::take(*table.impl().plain, mx::where(known, tokens, mx::array(0)), 0);  // [T, K]
  return mx::where(mx::expand_dims(known, 1), mx::multiply(rows, mx::array(scale)),
                   mx::array(0.0F));
}

}  // namespace

mx::array embed(const Context& ctx, const mx::array& tokens, const LinearWeight& table,
                float scale) {
  if (tokens.ndim() != 1) {
    refuse("embed", "tokens have shape " + shape_text(tokens.shape()) + ", expected [T]");
  }
  check_i32("embed", "tokens", tokens, tokens.shape());
  if (table.impl().plain) return embed_portable(tokens, table, scale);
  const int count = tokens.shape(0);
  return array::cpu_op("Embed", {{count, static_cast<int>(table.inputs())}, mx::float32}, {tokens},
                       [ctx, table, scale, count](const array::Operands& o) {
                         ctx.pool->parallel_for(count, 8, [&](int64_t begin, int64_t end) {
                           for (int64_t t = begin; t < end; ++t) {
                             copy_row(ctx, table, o.in<int32_t>(0)[t], scale,
                                      o.out<float>() + t * table.inputs());
                           }
                         });
                       });
}

}  // namespace paceline::kernels
