#include "kernels/norm.h"

#include <mlx/fast.h>
#include <mlx/ops.h>

#include <cmath>
#include <vector>

#include "array/cpu_primitive.h"
#include "kernels/check.h"
#include "kernels/norm_kernel.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

constexpr int64_t kForkElements = 8192;

void over_elements(const Context& ctx, int64_t count,
                   const std::function<void(int64_t, int64_t)>& body) {
  if (count < kForkElements) {
    body(0, count);
  } else {
    ctx.pool->parallel_for(count, 1024, body);
  }
}

void over_rows(const Context& ctx, int64_t rows, int64_t width,
               const std::function<void(int64_t, int64_t)>& body) {
  if (rows * width < kForkElements) {
    body(0, rows);
  } else {
    ctx.pool->parallel_for(rows, 1, body);
  }
}

/// The last extent of x [..., D], checked f32.
int width_of(const char* where, const mx::array& x) {
  if (x.ndim() == 0) refuse(where, "x is a scalar, expected [..., D]");
  check_f32(where, "x", x, x.shape());
  return x.shape(-1);
}

int64_t rows_of(const mx::array& x) {
  return x.shape(-1) > 0 ? static_cast<int64_t>(x.size()) / x.shape(-1) : 0;
}

float log_rounded_once(float x) { return static_cast<float>(std::log(static_cast<double>(x))); }

}  // namespace

mx::array rms_norm(const Context& ctx, const mx::array& x, const mx::array& weight, float eps,
                   float weight_offset, const std::optional<mx::array>& residual) {
  const int width = width_of("rms_norm", x);
  check_f32("rms_norm", "weight", weight, {width});
  if (residual) check_f32("rms_norm", "residual", *residual, x.shape());
  if (ctx.portable) {
    const auto scale = weight_offset == 0.0F ? weight : mx::add(weight, mx::array(weight_offset));
    const auto y = mx::fast::rms_norm(x, scale, eps);
    return residual ? mx::add(y, *residual) : y;
  }
  const int64_t rows = rows_of(x);
  std::vector<mx::array> inputs{x, weight};
  if (residual) inputs.push_back(*residual);
  return array::cpu_op("RmsNorm", {x.shape(), mx::float32}, std::move(inputs),
                       [ctx, rows, width, eps, weight_offset,
                        has_residual = residual.has_value()](const array::Operands& o) {
                         const NormArgs args{.x = o.in<float>(0),
                                             .weight = o.in<float>(1),
                                             .residual = has_residual ? o.in<float>(2) : nullptr,
                                             .out = o.out<float>(),
                                             .width = width,
                                             .eps = eps,
                                             .weight_offset = weight_offset};
                         over_rows(ctx, rows, width, [&](int64_t begin, int64_t end) {
                           norm_table(ctx.isa).rms_norm(args, begin, end);
                         });
                       });
}

mx::array layer_norm(const Context& ctx, const mx::array& x, const mx::array& weight,
                     const std::optional<mx::array>& bias, float eps) {
  const int width = width_of("layer_norm", x);
  check_f32("layer_norm", "weight", weight, {width});
  if (bias) check_f32("layer_norm", "bias", *bias, {width});
  if (ctx.portable) return mx::fast::layer_norm(x, weight, bias, eps);
  const int64_t rows = rows_of(x);
  std::vector<mx::array> inputs{x, weight};
  if (bias) inputs.push_back(*bias);
  return array::cpu_op(
      "LayerNorm", {x.shape(), mx::float32}, std::move(inputs),
      [ctx, rows, width, eps, has_bias = bias.has_value()](const array::Operands& o) {
        const LayerNormArgs args{.x = o.in<float>(0),
                                 .weight = o.in<float>(1),
                                 .bias = has_bias ? o.in<float>(2) : nullptr,
                                 .out = o.out<float>(),
                                 .width = width,
                                 .eps = eps};
        over_rows(ctx, rows, width, [&](int64_t begin, int64_t end) {
          norm_table(ctx.isa).layer_norm(args, begin, end);
        });
      });
}

mx::array log_softmax(const Context& ctx, const mx::array& x) {
  const int width = width_of("log_softmax", x);
  if (ctx.portable) {
    const auto centred = mx::subtract(x, mx::max(x, -1, true));
    return mx::subtract(centred, mx::log(mx::sum(mx::exp(centred), -1, true)));
  }
  const int64_t rows = rows_of(x);
  return array::cpu_op(
      "LogSoftmax", {x.shape(), mx::float32}, {x}, [ctx, rows, width](const array::Operands& o) {
        const LogSoftmaxArgs args{
            .x = o.in<float>(0), .out = o.out<float>(), .width = width, .log = log_rounded_once};
        over_rows(ctx, rows, width, [&](int64_t begin, int64_t end) {
          norm_table(ctx.isa).log_softmax(args, begin, end);
        });
      });
}

mx::array add(const Context& ctx, const mx::array& a, const mx::array& b) {
  check_f32("add", "a", a, a.shape());
  check_f32("add", "b", b, a.shape());
  if (ctx.portable) return mx::add(a, b);
  const auto count = static_cast<int64_t>(a.size());
  return array::cpu_op(
      "Add", {a.shape(), mx::float32}, {a, b}, [ctx, count](const array::Operands& o) {
        over_elements(ctx, count, [&](int64_t begin, int64_t end) {
          norm_table(ctx.isa).add(o.in<float>(0), o.in<float>(1), o.out<float>(), begin, end);
        });
      });
}

mx::array softcap(const Context& ctx, const mx::array& x, float cap) {
  check_f32("softcap", "x", x, x.shape());
  if (ctx.portable) {
    return mx::multiply(mx::array(cap), mx::tanh(mx::divide(x, mx::array(cap))));
  }
  const auto count = static_cast<int64_t>(x.size());
  return array::cpu_op(
      "Softcap", {x.shape(), mx::float32}, {x}, [ctx, count, cap](const array::Operands& o) {
        over_elements(ctx, count, [&](int64_t begin, int64_t end) {
          norm_table(ctx.isa).softcap(o.in<float>(0), cap, o.out<float>(), begin, end);
        });
      });
}

const NormTable& norm_table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return norm_table_avx512();
  if (isa == Isa::avx2) return norm_table_avx2();
#endif
  static_cast<void>(isa);
  return norm_table_generic();
}

}  // namespace paceline::kernels
