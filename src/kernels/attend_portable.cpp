#include <mlx/ops.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "array/runtime.h"
#include "kernels/attention.h"
#include "kernels/check.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

/// Which keys each query sees, and which queries see any. [1, 1, L, K] and [1, 1, L, 1], boolean.
struct Visibility {
  mx::array keys;
  mx::array any;
};

Visibility visibility(const Mask& mask, const RowSpan& span, int32_t row, int32_t first,
                      int count) {
  std::vector<int32_t> seen(static_cast<std::size_t>(span.length) *
                            static_cast<std::size_t>(count));
  std::vector<int32_t> any(static_cast<std::size_t>(span.length));
  auto out = seen.begin();
  for (int i = 0; i < span.length; ++i) {
    for (int k = 0; k < count; ++k, ++out) {
      *out = allows(mask, row, span.start + i, first + k) ? 1 : 0;
      any[static_cast<std::size_t>(i)] |= *out;
    }
  }
  return {mx::astype(array::i32_array(seen, {1, 1, span.length, count}), mx::bool_),
          mx::astype(array::i32_array(any, {1, 1, span.length, 1}), mx::bool_)};
}

/// softmax over the keys, with a sink's logit in the sum where there are sinks. scores [H, G, L,
/// K].
mx::array weights_of(const mx::array& scores, const std::vector<float>& sinks) {
  if (sinks.empty()) return mx::softmax(scores, -1, true);
  const int heads = scores.shape(0), group = scores.shape(1), length = scores.shape(2);
  const auto sink =
      mx::broadcast_to(array::f32_array(sinks, {heads, group, 1, 1}), {heads, group, length, 1});
  const auto all = mx::softmax(mx::concatenate({sink, scores}, 3), -1, true);
  return mx::slice(all, {0, 0, 0, 1}, {heads, group, length, scores.shape(3) + 1});
}

void check_operands(const mx::array& q, const mx::array& keys, const mx::array& values,
                    const RowSpan& span, const AttendSpec& spec) {
  if (q.ndim() != 3 || keys.ndim() != 3 || values.ndim() != 3 || q.shape(0) != span.length) {
    refuse("attend_portable", "q has shape " + shape_text(q.shape()) + ", keys " +
                                  shape_text(keys.shape()) + ", the row has " +
                                  std::to_string(span.length) + " tokens");
  }
  if (q.shape(2) != keys.shape(2) || keys.shape(1) == 0 || q.shape(1) % keys.shape(1) != 0 ||
      values.shape(0) != keys.shape(0)) {
    refuse("attend_portable", "q " + shape_text(q.shape()) + ", keys " + shape_text(keys.shape()) +
                                  ", values " + shape_text(values.shape()));
  }
  if (!spec.sinks.empty() && static_cast<int>(spec.sinks.size()) != q.shape(1)) {
    refuse("attend_portable", std::to_string(spec.sinks.size()) + " sinks, q has " +
                                  std::to_string(q.shape(1)) + " heads");
  }
}

}  // namespace

mx::array attend_portable(const mx::array& q, const mx::array& keys, const mx::array& values,
                          const RowSpan& span, int32_t row, int32_t first_position,
                          const AttendSpec& spec) {
  check_operands(q, keys, values, span, spec);
  const int length = q.shape(0), heads = q.shape(1), width = q.shape(2);
  const int count = keys.shape(0), kv_heads = keys.shape(1), value_dim = values.shape(2);
  const int group = heads / kv_heads;
  if (count == 0 || length == 0) return mx::zeros({length, heads, value_dim});
  const auto v = spec.v_from_k ? mx::slice(keys, {0, 0, 0}, {count, kv_heads, value_dim}) : values;
  const auto rows =
      mx::reshape(mx::transpose(mx::reshape(q, {length, kv_heads, group, width}), {1, 2, 0, 3}),
                  {kv_heads, group * length, width});
  auto scores = mx::multiply(mx::matmul(rows, mx::transpose(keys, {1, 2, 0})),
                             mx::array(spec.scale));  // [H, G * L, K]
  if (spec.softcap > 0.0F) {
    const auto cap = mx::array(spec.softcap);
    scores = mx::multiply(cap, mx::tanh(mx::divide(scores, cap)));
  }
  const auto seen = visibility(spec.mask, span, row, first_position, count);
  const auto masked = mx::where(seen.keys, mx::reshape(scores, {kv_heads, group, length, count}),
                                mx::array(-std::numeric_limits<float>::infinity()));
  const auto weights =
      mx::reshape(weights_of(masked, spec.sinks), {kv_heads, group * length, count});
  const auto mixed = mx::reshape(mx::matmul(weights, mx::transpose(v, {1, 0, 2})),
                                 {kv_heads, group, length, value_dim});
  const auto safe = mx::where(seen.any, mixed, mx::array(0.0F));
  return mx::reshape(mx::transpose(safe, {2, 0, 1, 3}), {length, heads, value_dim});
}

}  // namespace paceline::kernels
