#include <mlx/ops.h>

#include <algorithm>
#include <string>
#include <vector>

#include "array/cpu_primitive.h"
#include "kernels/attention.h"
#include "kernels/check.h"
#include "kernels/kv_codec.h"
#include "kernels/kv_pages.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

constexpr int64_t kForkElements = 16384;

/// The keys of one forward, or its values.
struct Side {
  const float* rows;  ///< [T, kv_heads, dim]
  int64_t dim;
  bool keys;
};

/// Encodes the rows of one token into `codes` and puts them where they belong.
void write_token(const KvDesc& desc, const KvRowPages& row, const Side& side, int32_t position,
                 const float* rows, std::byte* codes) {
  const PageRun run = page_run(desc, row, position, position + 1);
  const auto page = static_cast<std::size_t>(run.page);
  for (int32_t head = 0; head < desc.kv_heads; ++head, rows += side.dim) {
    if (side.keys) {
      kv_encode(rows, side.dim, desc.encoding, codes);
      kv_copy(codes, 1, side.dim, desc.encoding, key_at(row.keys[page], desc, head, run.slot),
              key_lanes(desc));
    } else {
      kv_encode(rows, side.dim, desc.encoding, value_at(row.values[page], desc, head, run.slot));
    }
  }
}

void write_rows(const Context& ctx, const RowTable& table, const KvDesc& desc, const Side& side) {
  for (std::size_t r = 0; r < table.size(); ++r) {
    const RowSpan& span = table[r];
    if (!side.keys && desc.rows[r].values.empty()) continue;  // V lives in K
    const auto body = [&](int64_t begin, int64_t end) {
      std::vector<std::byte> codes(static_cast<std::size_t>(side.dim * sizeof(float)));
      for (int64_t i = begin; i < end; ++i) {
        write_token(desc, desc.rows[r], side, span.start + static_cast<int32_t>(i),
                    side.rows + (span.token_begin + i) * desc.kv_heads * side.dim, codes.data());
      }
    };
    if (span.length * desc.kv_heads * side.dim < kForkElements) {
      body(0, span.length);
    } else {
      ctx.pool->parallel_for(span.length, kKeyLanes, body);
    }
  }
}

int token_count(const RowTable& table) {
  int count = 0;
  for (const auto& span : table) count += span.length;
  return count;
}

/// One row's live keys or values, decoded, [K, kv_heads, dim].
void gather_side(const KvDesc& desc, const KvRowPages& row, const Side& side, float* out) {
  const bool from_keys = side.keys || row.values.empty();
  std::vector<std::byte> codes(static_cast<std::size_t>(side.dim * sizeof(float)));
  for (int32_t position = row.live_begin; position < row.live_end; ++position) {
    const PageRun run = page_run(desc, row, position, position + 1);
    const auto page = static_cast<std::size_t>(run.page);
    for (int32_t head = 0; head < desc.kv_heads; ++head, out += side.dim) {
      if (from_keys) {
        kv_copy(key_at(row.keys[page], desc, head, run.slot), key_lanes(desc), side.dim,
                desc.encoding, codes.data(), 1);
        kv_decode(codes.data(), side.dim, desc.encoding, out);
      } else {
        kv_decode(value_at(row.values[page], desc, head, run.slot), side.dim, desc.encoding, out);
      }
    }
  }
}

}  // namespace

mx::array kv_write(const Context& ctx, const mx::array& k, const mx::array& v,
                   const RowTablePtr& table, const KvDescPtr& desc) {
  if (table->size() != desc->rows.size()) {
    refuse("kv_write",
           std::to_string(table->size()) + " rows, pages of " + std::to_string(desc->rows.size()));
  }
  const int tokens = token_count(*table);
  check_f32("kv_write", "k", k, {tokens, desc->kv_heads, desc->key_dim});
  check_f32("kv_write", "v", v, {tokens, desc->kv_heads, desc->value_dim});
  return array::cpu_op("KvWrite", {{1}, mx::int32}, {k, v},
                       [ctx, table, desc](const array::Operands& o) {
                         write_rows(ctx, *table, *desc, {o.in<float>(0), desc->key_dim, true});
                         write_rows(ctx, *table, *desc, {o.in<float>(1), desc->value_dim, false});
                         *o.out<int32_t>() = 0;
                       });
}

std::vector<mx::array> kv_gather(const Context&, const mx::array& effect, int32_t row,
                                 const KvDescPtr& desc) {
  if (row < 0 || row >= static_cast<int32_t>(desc->rows.size())) {
    refuse("kv_gather", "row " + std::to_string(row) + " of " + std::to_string(desc->rows.size()));
  }
  const KvRowPages& pages = desc->rows[static_cast<std::size_t>(row)];
  const int count = std::max(0, pages.live_end - pages.live_begin);
  return array::cpu_ops(
      "KvGather",
      {{{count, desc->kv_heads, desc->key_dim}, mx::float32},
       {{count, desc->kv_heads, desc->value_dim}, mx::float32}},
      {effect}, [desc, row](const array::Operands& o) {
        const auto& pages = desc->rows[static_cast<std::size_t>(row)];
        gather_side(*desc, pages, {nullptr, desc->key_dim, true}, o.out<float>(0));
        gather_side(*desc, pages, {nullptr, desc->value_dim, false}, o.out<float>(1));
      });
}

}  // namespace paceline::kernels
