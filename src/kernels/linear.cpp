#include "kernels/linear.h"

#include <mlx/ops.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "array/cpu_primitive.h"
#include "kernels/check.h"
#include "kernels/linear_run.h"
#include "kernels/linear_weight.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr std::size_t kAbsent = ~std::size_t{0};

int check_x(const char* where, const mx::array& x, const LinearWeight& weight) {
  if (x.ndim() != 2) refuse(where, "x has shape " + shape_text(x.shape()) + ", expected [T, K]");
  if (x.shape(1) != weight.inputs()) {
    refuse(where, "x has " + std::to_string(x.shape(1)) + " columns, weight has " +
                      std::to_string(weight.inputs()));
  }
  check_f32(where, "x", x, x.shape());
  return x.shape(0);
}

mx::array product(const mx::array& x, const LinearWeight& weight) {
  return mx::matmul(x, mx::transpose(*weight.impl().plain));
}

mx::array activate(const mx::array& x, Activation activation) {
  if (activation == Activation::silu)
    return mx::divide(x, mx::add(mx::array(1.0F), mx::exp(mx::negative(x))));
  const auto cube = mx::multiply(mx::multiply(x, x), x);
  const auto inner = mx::multiply(mx::array(0.79788456080286536F),
                                  mx::add(x, mx::multiply(mx::array(0.044715F), cube)));
  return mx::multiply(mx::multiply(mx::array(0.5F), x), mx::add(mx::array(1.0F), mx::tanh(inner)));
}

/// Operands of a node; absent ones have no place.
struct Inputs {
  std::vector<mx::array> arrays;

  explicit Inputs(const mx::array& x) : arrays{x} {}
  std::size_t add(const std::optional<mx::array>& operand) {
    if (!operand) return kAbsent;
    arrays.push_back(*operand);
    return arrays.size() - 1;
  }
};

const float* operand(const array::Operands& o, std::size_t at) {
  return at == kAbsent ? nullptr : o.in<float>(at);
}

mx::array linear_portable(const mx::array& x, const LinearWeight& weight,
                          const std::optional<mx::array>& bias,
                          const std::optional<mx::array>& residual) {
  auto y = product(x, weight);
  if (bias) y = mx::add(y, *bias);
  return residual ? mx::add(y, *residual) : y;
}

}  // namespace

mx::array linear(const Context& ctx, const mx::array& x, const LinearWeight& weight,
                 const std::optional<mx::array>& bias, const std::optional<mx::array>& residual) {
  const int rows = check_x("linear", x, weight);
  const int outputs = static_cast<int>(weight.outputs());
  if (bias) check_f32("linear", "bias", *bias, {outputs});
  if (residual) check_f32("linear", "residual", *residual, {rows, outputs});
  if (weight.impl().plain) return linear_portable(x, weight, bias, residual);
  Inputs inputs(x);
  const std::size_t bias_at = inputs.add(bias);
  const std::size_t residual_at = inputs.add(residual);
  return array::cpu_op("Linear", {{rows, outputs}, mx::float32}, std::move(inputs.arrays),
                       [ctx, weight, rows, bias_at, residual_at](const array::Operands& o) {
                         const auto panel = panel_for(ctx, o.in<float>(0), rows, {&weight});
                         LinearArgs args = make_args(o.in<float>(0), rows, weight, o.out<float>());
                         args.panel = panel ? &*panel : nullptr;
                         args.bias = operand(o, bias_at);
                         args.residual = operand(o, residual_at);
                         const LinearTable& table = linear_table(ctx.isa);
                         over_tiles(
                             ctx, args, weight.impl().tile_count(),
                             [&](int64_t begin, int64_t end) { table.linear(args, begin, end); });
                       });
}

namespace {

/// The tiles of several products, one after another.
void run_each(const Context& ctx, const std::vector<LinearArgs>& all) {
  std::vector<int64_t> first{0};  // tile numbers of the parts
  for (const LinearArgs& args : all) first.push_back(first.back() + (args.outputs + 15) / 16);
  const LinearTable& table = linear_table(ctx.isa);
  over_tiles(ctx, all.front(), first.back(), [&](int64_t begin, int64_t end) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int64_t from = std::max(begin, first[i]);
      const int64_t to = std::min(end, first[i + 1]);
      if (from < to) table.linear(all[i], from - first[i], to - first[i]);
    }
  });
}

}  // namespace

std::vector<mx::array> linear_each(const Context& ctx, const mx::array& x,
                                   const std::vector<LinearPart>& parts) {
  if (parts.empty()) return {};
  Inputs inputs(x);
  std::vector<array::OutputSpec> outputs;
  std::vector<std::size_t> bias_at;
  for (const LinearPart& part : parts) {
    const int rows = check_x("linear_each", x, part.weight);
    const int columns = static_cast<int>(part.weight.outputs());
    if (part.bias) check_f32("linear_each", "bias", *part.bias, {columns});
    outputs.push_back({{rows, columns}, mx::float32});
    bias_at.push_back(inputs.add(part.bias));
  }
  if (parts.front().weight.impl().plain) {
    std::vector<mx::array> results;
    for (const LinearPart& part : parts) results.push_back(linear(ctx, x, part.weight, part.bias));
    return results;
  }
  std::vector<LinearWeight> weights;
  for (const LinearPart& part : parts) weights.push_back(part.weight);
  return array::cpu_ops("LinearEach", outputs, inputs.arrays,
                        [ctx, weights, bias_at, rows = x.shape(0)](const array::Operands& o) {
                          const float* from = o.in<float>(0);
                          std::optional<packed::Panel> panel;
                          std::vector<LinearArgs> all;
                          for (std::size_t i = 0; i < weights.size(); ++i) {
                            if (!panel) panel = panel_for(ctx, from, rows, {&weights[i]});
                            all.push_back(make_args(from, rows, weights[i], o.out<float>(i)));
                            all.back().bias = operand(o, bias_at[i]);
                          }
                          for (LinearArgs& args : all) args.panel = panel ? &*panel : nullptr;
                          run_each(ctx, all);
                        });
}

mx::array linear_tiles(const Context& ctx, const mx::array& x, const LinearWeight& weight,
                       const TileList& tiles) {
  const int rows = check_x("linear_tiles", x, weight);
  const auto tile_count = static_cast<int32_t>(weight.impl().tile_count());
  for (const int32_t tile : *tiles) {
    if (tile >= 0 && tile < tile_count) continue;
    refuse("linear_tiles",
           "tile " + std::to_string(tile) + " of a weight that has " + std::to_string(tile_count));
  }
  const auto width = static_cast<int>(tiles->size()) * 16;
  if (weight.impl().plain) {
    std::vector<int32_t> columns;
    for (const int32_t tile : *tiles) {
      for (int32_t i = 0; i < 16; ++i) columns.push_back(tile * 16 + i);
    }
    const auto all = product(x, weight);
    const auto padding = mx::full({rows, tile_count * 16 - all.shape(1)}, kNothing, mx::float32);
    return mx::take(mx::concatenate({all, padding}, 1), mx::array(columns.data(), {width}), 1);
  }
  return array::cpu_op("LinearTiles", {{rows, width}, mx::float32}, {x},
                       [ctx, weight, tiles, rows, width](const array::Operands& o) {
                         const auto panel = panel_for(ctx, o.in<float>(0), rows, {&weight});
                         LinearArgs args = make_args(o.in<float>(0), rows, weight, o.out<float>());
                         args.panel = panel ? &*panel : nullptr;
                         args.chosen = tiles->data();
                         args.out_stride = width;
                         std::fill_n(args.out, int64_t{rows} * width, kNothing);
                         const LinearTable& table = linear_table(ctx.isa);
                         over_tiles(ctx, args, width / 16, [&](int64_t begin, int64_t end) {
                           table.linear(args, begin, end);
                         });
                       });
}

mx::array gated_linear(const Context& ctx, const mx::array& x, const LinearWeight& gate,
                       const LinearWeight& up, Activation activation, const GatedBias& bias) {
  const int rows = check_x("gated_linear", x, gate);
  check_x("gated_linear", x, up);
  const int outputs = static_cast<int>(gate.outputs());
  if (up.outputs() != gate.outputs()) {
    refuse("gated_linear", "gate has " + std::to_string(gate.outputs()) + " outputs, up has " +
                               std::to_string(up.outputs()));
  }
  if (bias.gate) check_f32("gated_linear", "gate bias", *bias.gate, {outputs});
  if (bias.up) check_f32("gated_linear", "up bias", *bias.up, {outputs});
  if (gate.impl().plain) {
    return mx::multiply(activate(linear(ctx, x, gate, bias.gate), activation),
                        linear(ctx, x, up, bias.up));
  }
  Inputs inputs(x);
  const std::size_t gate_bias_at = inputs.add(bias.gate);
  const std::size_t up_bias_at = inputs.add(bias.up);
  return array::cpu_op(
      "GatedLinear", {{rows, outputs}, mx::float32}, std::move(inputs.arrays),
      [ctx, gate, up, rows, activation, gate_bias_at, up_bias_at](const array::Operands& o) {
        const auto panel = panel_for(ctx, o.in<float>(0), rows, {&gate, &up});
        LinearArgs args = make_args(o.in<float>(0), rows, gate, o.out<float>());
        args.panel = panel ? &*panel : nullptr;
        args.bias = operand(o, gate_bias_at);
        const GatedArgs gated{.args = args,
                              .up_layout = &up.impl().layout,
                              .up_tiles = up.impl().tiles.get(),
                              .up_tile_bytes = up.impl().layout.tile_bytes(up.inputs()),
                              .up_bias = operand(o, up_bias_at),
                              .gelu = activation == Activation::gelu_tanh};
        const LinearTable& table = linear_table(ctx.isa);
        over_tiles(ctx, args, gate.impl().tile_count(),
                   [&](int64_t begin, int64_t end) { table.gated(gated, begin, end); });
      });
}

}  // namespace paceline::kernels
