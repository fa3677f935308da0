#include "kernels/experts.h"

#include <mlx/ops.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "array/cpu_primitive.h"
#include "kernels/check.h"
#include "kernels/linear_run.h"
#include "kernels/linear_weight.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

int check_rows(const char* where, const mx::array& x, const ExpertWeights& weights,
               const mx::array& expert_of_row) {
  if (!weights || weights->empty()) refuse(where, "no experts");
  if (x.ndim() != 2) refuse(where, "x has shape " + shape_text(x.shape()) + ", expected [R, K]");
  const LinearWeight& first = weights->front();
  for (const LinearWeight& weight : *weights) {
    if (weight.inputs() == x.shape(1) && weight.outputs() == first.outputs()) continue;
    refuse(where, "an expert is [" + std::to_string(weight.outputs()) + ", " +
                      std::to_string(weight.inputs()) + "], expected [" +
                      std::to_string(first.outputs()) + ", " + std::to_string(x.shape(1)) + "]");
  }
  check_f32(where, "x", x, x.shape());
  check_i32(where, "expert_of_row", expert_of_row, {x.shape(0)});
  return x.shape(0);
}

/// Rows in the order of their experts, and where each expert's begin; rows without one come last.
struct Groups {
  std::vector<int32_t> rows;
  std::vector<std::size_t> begin;  ///< [experts + 1]

  Groups(const int32_t* expert_of_row, int count, int32_t experts) {
    rows.resize(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), 0);
    const auto place = [&](int32_t row) {
      const int32_t expert = expert_of_row[row];
      return expert >= 0 && expert < experts ? expert : experts;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](int32_t a, int32_t b) { return place(a) < place(b); });
    for (int32_t expert = 0; expert <= experts; ++expert) {
      const auto at = std::partition_point(rows.begin(), rows.end(),
                                           [&](int32_t row) { return place(row) < expert; });
      begin.push_back(static_cast<std::size_t>(at - rows.begin()));
    }
  }
};

/// body(expert, x of its rows, rows, out of its rows) per expert that has rows; gathers and
/// scatters.
template <class Body>
void each_expert(const array::Operands& o, int rows, int64_t inputs, int64_t outputs,
                 int32_t experts, Body body) {
  const Groups groups(o.in<int32_t>(1), rows, experts);
  std::vector<float> x, y;
  float* const out = o.out<float>();
  for (int32_t expert = 0; expert < experts; ++expert) {
    const auto first = groups.rows.begin() + static_cast<std::ptrdiff_t>(groups.begin[expert]);
    const auto last = groups.rows.begin() + static_cast<std::ptrdiff_t>(groups.begin[expert + 1]);
    if (first == last) continue;
    x.clear();
    for (auto row = first; row != last; ++row) {
      const float* from = o.in<float>(0) + *row * inputs;
      x.insert(x.end(), from, from + inputs);
    }
    y.resize(static_cast<std::size_t>((last - first) * outputs));
    body(expert, x.data(), last - first, y.data());
    for (auto row = first; row != last; ++row) {
      std::copy_n(y.data() + (row - first) * outputs, outputs, out + *row * outputs);
    }
  }
  for (std::size_t i = groups.begin.back(); i < groups.rows.size(); ++i) {
    std::fill_n(out + groups.rows[i] * outputs, outputs, 0.0F);
  }
}

/// Row by row, in the portable form.
template <class Product>
mx::array portable_rows(const mx::array& x, const ExpertWeights& weights,
                        const mx::array& expert_of_row, Product product) {
  auto y = mx::zeros({x.shape(0), static_cast<int>(weights->front().outputs())}, mx::float32);
  for (std::size_t expert = 0; expert < weights->size(); ++expert) {
    const auto mine = mx::equal(expert_of_row, mx::array(static_cast<int>(expert)));
    y = mx::where(mx::expand_dims(mine, 1), product(expert), y);
  }
  return y;
}

}  // namespace

mx::array expert_linear(const Context& ctx, const mx::array& x, const ExpertWeights& weights,
                        const mx::array& expert_of_row) {
  const int rows = check_rows("expert_linear", x, weights, expert_of_row);
  if (weights->front().impl().plain) {
    return portable_rows(x, weights, expert_of_row,
                         [&](std::size_t expert) { return linear(ctx, x, (*weights)[expert]); });
  }
  const int64_t outputs = weights->front().outputs();
  return array::cpu_op(
      "ExpertLinear", {{rows, static_cast<int>(outputs)}, mx::float32}, {x, expert_of_row},
      [ctx, weights, rows, outputs](const array::Operands& o) {
        const auto experts = static_cast<int32_t>(weights->size());
        const LinearTable& table = linear_table(ctx.isa);
        each_expert(o, rows, weights->front().inputs(), outputs, experts,
                    [&](int32_t expert, const float* from, int64_t count, float* to) {
                      const LinearWeight& weight = (*weights)[static_cast<std::size_t>(expert)];
                      const auto panel = panel_for(ctx, from, count, {&weight});
                      LinearArgs args = make_args(from, count, weight, to);
                      args.panel = panel ? &*panel : nullptr;
                      over_tiles(ctx, args, weight.impl().tile_count(),
                                 [&](int64_t b, int64_t e) { table.linear(args, b, e); });
                    });
      });
}

mx::array expert_gated_linear(const Context& ctx, const mx::array& x, const ExpertWeights& gates,
                              const ExpertWeights& ups, const mx::array& expert_of_row,
                              Activation activation) {
  const int rows = check_rows("expert_gated_linear", x, gates, expert_of_row);
  check_rows("expert_gated_linear", x, ups, expert_of_row);
  const int64_t outputs = gates->front().outputs();
  if (ups->size() != gates->size() || ups->front().outputs() != outputs) {
    refuse("expert_gated_linear", "gate and up differ in shape");
  }
  if (gates->front().impl().plain) {
    return portable_rows(x, gates, expert_of_row, [&](std::size_t expert) {
      return gated_linear(ctx, x, (*gates)[expert], (*ups)[expert], activation);
    });
  }
  return array::cpu_op(
      "ExpertGatedLinear", {{rows, static_cast<int>(outputs)}, mx::float32}, {x, expert_of_row},
      [ctx, gates, ups, rows, outputs, activation](const array::Operands& o) {
        const auto experts = static_cast<int32_t>(gates->size());
        const LinearTable& table = linear_table(ctx.isa);
        each_expert(o, rows, gates->front().inputs(), outputs, experts,
                    [&](int32_t expert, const float* from, int64_t count, float* to) {
                      const LinearWeight& gate = (*gates)[static_cast<std::size_t>(expert)];
                      const LinearWeight& up = (*ups)[static_cast<std::size_t>(expert)];
                      const auto panel = panel_for(ctx, from, count, {&gate, &up});
                      LinearArgs args = make_args(from, count, gate, to);
                      args.panel = panel ? &*panel : nullptr;
                      const GatedArgs gated{
                          .args = args,
                          .up_layout = &up.impl().layout,
                          .up_tiles = up.impl().tiles.get(),
                          .up_tile_bytes = up.impl().layout.tile_bytes(up.inputs()),
                          .up_bias = nullptr,
                          .gelu = activation == Activation::gelu_tanh};
                      over_tiles(ctx, args, gate.impl().tile_count(),
                                 [&](int64_t b, int64_t e) { table.gated(gated, b, e); });
                    });
      });
}

mx::array slot_sum(const Context& ctx, const mx::array& x, const mx::array& weights) {
  if (x.ndim() != 3) refuse("slot_sum", "x has shape " + shape_text(x.shape()));
  check_f32("slot_sum", "x", x, x.shape());
  check_f32("slot_sum", "weights", weights, {x.shape(0), x.shape(1)});
  if (ctx.portable) return mx::sum(mx::multiply(x, mx::expand_dims(weights, 2)), 1);
  const int rows = x.shape(0), slots = x.shape(1), width = x.shape(2);
  return array::cpu_op("SlotSum", {{rows, width}, mx::float32}, {x, weights},
                       [rows, slots, width](const array::Operands& o) {
                         float* out = o.out<float>();
                         std::fill_n(out, int64_t{rows} * width, 0.0F);
                         for (int64_t at = 0; at < int64_t{rows} * slots; ++at) {
                           const float weight = o.in<float>(1)[at];
                           const float* from = o.in<float>(0) + at * width;
                           float* to = out + at / slots * width;
                           for (int i = 0; i < width; ++i) to[i] = std::fma(weight, from[i], to[i]);
                         }
                       });
}

}  // namespace paceline::kernels
