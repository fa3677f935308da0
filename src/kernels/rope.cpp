#include "kernels/rope.h"

#include <mlx/ops.h>

#include <algorithm>

#include "array/cpu_primitive.h"
#include "array/runtime.h"
#include "kernels/check.h"
#include "kernels/rope_table.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

constexpr int64_t kForkElements = 16384;

/// One head: y0 = x0 cos - x1 sin, y1 = x1 cos + x0 sin, each product rounded.
void rotate(const float* x, const float* cos_sin, const RopeSpec& spec, int64_t width, float* out) {
  const auto pairs = static_cast<int64_t>(spec.inverse_frequencies.size());
  const int64_t step = spec.interleaved ? 2 : 1;
  const int64_t other = spec.interleaved ? 1 : pairs;
  for (int64_t i = 0; i < pairs; ++i) {
    const float c = cos_sin[i];
    const float s = cos_sin[pairs + i];
    const float x0 = x[i * step];
    const float x1 = x[i * step + other];
    out[i * step] = x0 * c - x1 * s;
    out[i * step + other] = x1 * c + x0 * s;
  }
  std::copy(x + 2 * pairs, x + width, out + 2 * pairs);
}

mx::array rope_portable(const mx::array& x, const mx::array& positions, const RopeSpec& spec) {
  const auto pairs = static_cast<int>(spec.inverse_frequencies.size());
  const int tokens = x.shape(0), heads = x.shape(1), width = x.shape(2);
  const auto frequencies = array::f32_array(spec.inverse_frequencies, {1, 1, pairs});
  const auto angles = mx::multiply(mx::reshape(mx::astype(positions, mx::float32), {tokens, 1, 1}),
                                   frequencies);  // [T, 1, P]
  const auto magnitude = mx::array(spec.magnitude);
  const auto cos = mx::multiply(mx::cos(angles), magnitude);
  const auto sin = mx::multiply(mx::sin(angles), magnitude);
  const auto turned = mx::slice(x, {0, 0, 0}, {tokens, heads, 2 * pairs});
  const auto rest = mx::slice(x, {0, 0, 2 * pairs}, {tokens, heads, width});
  const mx::Shape split =
      spec.interleaved ? mx::Shape{tokens, heads, pairs, 2} : mx::Shape{tokens, heads, 2, pairs};
  const int axis = spec.interleaved ? 3 : 2;
  const auto halves = mx::reshape(turned, split);
  const auto x0 = mx::take(halves, 0, axis);  // [T, H, P]
  const auto x1 = mx::take(halves, 1, axis);
  const auto y0 = mx::subtract(mx::multiply(x0, cos), mx::multiply(x1, sin));
  const auto y1 = mx::add(mx::multiply(x1, cos), mx::multiply(x0, sin));
  const auto y = mx::reshape(mx::stack({y0, y1}, axis), {tokens, heads, 2 * pairs});
  return mx::concatenate({y, rest}, 2);
}

}  // namespace

mx::array rope(const Context& ctx, const mx::array& x, const mx::array& positions,
               const RopeSpecPtr& spec) {
  if (x.ndim() != 3) {
    refuse("rope", "x has shape " + shape_text(x.shape()) + ", expected [T, heads, D]");
  }
  check_f32("rope", "x", x, x.shape());
  check_i32("rope", "positions", positions, {x.shape(0)});
  const int64_t tokens = x.shape(0), heads = x.shape(1), width = x.shape(2);
  if (static_cast<int64_t>(2 * spec->inverse_frequencies.size()) > width) {
    refuse("rope", std::to_string(spec->inverse_frequencies.size()) + " frequencies, x has " +
                       std::to_string(width) + " features");
  }
  if (ctx.portable) return rope_portable(x, positions, *spec);
  return array::cpu_op("Rope", {x.shape(), mx::float32}, {x, positions},
                       [ctx, spec, tokens, heads, width](const array::Operands& o) {
                         RopeCache local;
                         RopeCache& cache = ctx.rope_cache ? *ctx.rope_cache : local;
                         const auto angles = cache.rows(spec, o.in<int32_t>(1), tokens);
                         const auto body = [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin * heads; i < end * heads; ++i) {
                             rotate(o.in<float>(0) + i * width,
                                    angles.rows[static_cast<std::size_t>(i / heads)], *spec, width,
                                    o.out<float>() + i * width);
                           }
                         };
                         if (tokens * heads * width < kForkElements) {
                           body(0, tokens);
                         } else {
                           ctx.pool->parallel_for(tokens, 1, body);
                         }
                       });
}

}  // namespace paceline::kernels
