#include <mlx/ops.h>

#include <string>

#include "array/cpu_primitive.h"
#include "kernels/attend_run.h"
#include "kernels/attention.h"
#include "kernels/check.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

void check_operands(const mx::array& q, const RowTable& table, const KvDesc& desc,
                    const AttendSpec& spec) {
  if (table.size() != desc.rows.size()) {
    refuse("attend",
           std::to_string(table.size()) + " rows, pages of " + std::to_string(desc.rows.size()));
  }
  int tokens = 0;
  for (const auto& span : table) tokens += span.length;
  if (q.ndim() != 3) {
    refuse("attend", "q has shape " + shape_text(q.shape()) + ", expected [T, heads, key_dim]");
  }
  check_f32("attend", "q", q, {tokens, q.shape(1), desc.key_dim});
  if (desc.kv_heads <= 0 || q.shape(1) % desc.kv_heads != 0) {
    refuse("attend", std::to_string(q.shape(1)) + " heads, not a multiple of " +
                         std::to_string(desc.kv_heads));
  }
  if (spec.v_from_k && desc.value_dim > desc.key_dim) {
    refuse("attend", "values of " + std::to_string(desc.value_dim) + " features in keys of " +
                         std::to_string(desc.key_dim));
  }
  if (!spec.sinks.empty() && static_cast<int>(spec.sinks.size()) != q.shape(1)) {
    refuse("attend", std::to_string(spec.sinks.size()) + " sinks, q has " +
                         std::to_string(q.shape(1)) + " heads");
  }
}

mx::array attend_rows(const Context& ctx, const mx::array& q, const mx::array& effect,
                      const RowTable& table, const KvDescPtr& desc, const AttendSpec& spec) {
  std::vector<mx::array> rows;
  for (std::size_t r = 0; r < table.size(); ++r) {
    const RowSpan& span = table[r];
    const auto row = static_cast<int32_t>(r);
    const auto history = kv_gather(ctx, effect, row, desc);
    const auto part = mx::slice(q, {span.token_begin, 0, 0},
                                {span.token_begin + span.length, q.shape(1), q.shape(2)});
    rows.push_back(
        attend_portable(part, history[0], history[1], span, row, desc->rows[r].live_begin, spec));
  }
  return rows.empty() ? mx::zeros({0, q.shape(1), desc->value_dim}) : mx::concatenate(rows, 0);
}

}  // namespace

mx::array attend(const Context& ctx, const mx::array& q, const mx::array& effect,
                 const RowTablePtr& table, const KvDescPtr& desc, const AttendSpec& spec) {
  check_operands(q, *table, *desc, spec);
  if (ctx.portable) return attend_rows(ctx, q, effect, *table, desc, spec);
  const int heads = q.shape(1);
  return array::cpu_op("Attend", {{q.shape(0), heads, desc->value_dim}, mx::float32}, {q, effect},
                       [ctx, table, desc, spec, heads](const array::Operands& o) {
                         run_attend({.ctx = ctx,
                                     .table = *table,
                                     .desc = *desc,
                                     .spec = spec,
                                     .q = o.in<float>(0),
                                     .out = o.out<float>(),
                                     .heads = heads});
                       });
}

}  // namespace paceline::kernels
