#include "kernels/linear.h"

#include <mlx/ops.h>

#include <memory>
#include <vector>

#include "array/cpu_primitive.h"
#include "kernels/check.h"
#include "kernels/linear_kernel.h"
#include "kernels/linear_weight.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

constexpr int64_t kForkProducts = 32768;  // below it a fork costs more than it saves

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

void over_tiles(const Context& ctx, const LinearArgs& args,
                const std::function<void(int64_t, int64_t)>& body) {
  const int64_t tiles = (args.outputs + 15) / 16;
  if (args.rows == 0 || tiles == 0) return;
  if (args.rows * args.inputs * args.outputs < kForkProducts) {
    body(0, tiles);
  } else {
    ctx.pool->parallel_for(tiles, 1, body);
  }
}

mx::array activate(const mx::array& x, Activation activation) {
  if (activation == Activation::silu)
    return mx::divide(x, mx::add(mx::array(1.0F), mx::exp(mx::negative(x))));
  const auto cube = mx::multiply(mx::multiply(x, x), x);
  const auto inner = mx::multiply(mx::array(0.79788456080286536F),
                                  mx::add(x, mx::multiply(mx::array(0.044715F), cube)));
  return mx::multiply(mx::multiply(mx::array(0.5F), x), mx::add(mx::array(1.0F), mx::tanh(inner)));
}

}  // namespace

mx::array linear(const Context& ctx, const mx::array& x, const LinearWeight& weight,
                 const std::optional<mx::array>& bias, const std::optional<mx::array>& residual) {
  const int rows = check_x("linear", x, weight);
  const int outputs = static_cast<int>(weight.outputs());
  if (bias) check_f32("linear", "bias", *bias, {outputs});
  if (residual) check_f32("linear", "residual", *residual, {rows, outputs});
  if (weight.impl().plain) {
    auto y = product(x, weight);
    if (bias) y = mx::add(y, *bias);
    return residual ? mx::add(y, *residual) : y;
  }
  std::vector<mx::array> inputs{x};
  if (bias) inputs.push_back(*bias);
  if (residual) inputs.push_back(*residual);
  const std::size_t residual_at = bias ? 2 : 1;
  return array::cpu_op(
      "Linear", {{rows, outputs}, mx::float32}, std::move(inputs),
      [ctx, weight, rows, has_bias = bias.has_value(), has_residual = residual.has_value(),
       residual_at](const array::Operands& o) {
        const LinearArgs args{.x = o.in<float>(0),
                              .tiles = weight.impl().tiles->data(),
                              .bias = has_bias ? o.in<float>(1) : nullptr,
                              .residual = has_residual ? o.in<float>(residual_at) : nullptr,
                              .out = o.out<float>(),
                              .rows = rows,
                              .inputs = weight.inputs(),
                              .outputs = weight.outputs()};
        const LinearTable& table = linear_table(ctx.isa);
        over_tiles(ctx, args, [&](int64_t begin, int64_t end) { table.linear(args, begin, end); });
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
  std::vector<mx::array> inputs{x};
  if (bias.gate) inputs.push_back(*bias.gate);
  if (bias.up) inputs.push_back(*bias.up);
  const std::size_t up_bias_at = bias.gate ? 2 : 1;
  return array::cpu_op(
      "GatedLinear", {{rows, outputs}, mx::float32}, std::move(inputs),
      [ctx, gate, up, rows, activation, has_gate_bias = bias.gate.has_value(),
       has_up_bias = bias.up.has_value(), up_bias_at](const array::Operands& o) {
        const LinearArgs args{.x = o.in<float>(0),
                              .tiles = gate.impl().tiles->data(),
                              .bias = has_gate_bias ? o.in<float>(1) : nullptr,
                              .residual = nullptr,
                              .out = o.out<float>(),
                              .rows = rows,
                              .inputs = gate.inputs(),
                              .outputs = gate.outputs()};
        const LinearTable& table = linear_table(ctx.isa);
        over_tiles(ctx, args, [&](int64_t begin, int64_t end) {
          const int64_t step = rows < 16 ? end - begin : 6;  // up's part of a step stays in L2
          const auto scratch =
              std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(rows * step * 16));
          const GatedArgs gated{.args = args,
                                .up_tiles = up.impl().tiles->data(),
                                .up_bias = has_up_bias ? o.in<float>(up_bias_at) : nullptr,
                                .scratch = scratch.get(),
                                .gelu = activation == Activation::gelu_tanh};
          for (int64_t tile = begin; tile < end; tile += step) {
            table.gated(gated, tile, std::min(end, tile + step));
          }
        });
      });
}

const LinearTable& linear_table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return linear_table_avx512();
  if (isa == Isa::avx2) return linear_table_avx2();
#endif
  static_cast<void>(isa);
  return linear_table_generic();
}

}  // namespace paceline::kernels
