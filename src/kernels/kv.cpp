#include <mlx/ops.h>

#include <bit>
#include <cstring>
#include <string>

#include "array/cpu_primitive.h"
#include "kernels/attention.h"
#include "kernels/check.h"
#include "kernels/kv_pages.h"

namespace paceline::kernels {
namespace mx = mlx::core;
namespace {

constexpr int64_t kForkElements = 16384;

uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

float from_bf16(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }

void encode(const float* from, int64_t count, KvEncoding encoding, std::byte* to) {
  if (encoding == KvEncoding::f32) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
    return;
  }
  auto* out = reinterpret_cast<uint16_t*>(to);
  for (int64_t i = 0; i < count; ++i) out[i] = to_bf16(from[i]);
}

void decode(const std::byte* from, int64_t count, KvEncoding encoding, float* to) {
  if (encoding == KvEncoding::f32) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
    return;
  }
  const auto* in = reinterpret_cast<const uint16_t*>(from);
  for (int64_t i = 0; i < count; ++i) to[i] = from_bf16(in[i]);
}

/// The keys or the values of one forward.
struct Side {
  const float* values;  ///< [T, kv_heads, dim]
  int64_t dim;
  std::vector<std::byte*> KvRowPages::* pages;
};

void write_token(const KvDesc& desc, const KvRowPages& row, const Side& side, int32_t position,
                 int64_t token) {
  const PageRun run = page_run(desc, row, position, position + 1);
  std::byte* page = (row.*side.pages)[static_cast<std::size_t>(run.page)];
  for (int32_t head = 0; head < desc.kv_heads; ++head) {
    encode(side.values + (token * desc.kv_heads + head) * side.dim, side.dim, desc.encoding,
           page_row(page, desc, side.dim, head, run.slot));
  }
}

void write_rows(const Context& ctx, const RowTable& table, const KvDesc& desc, const Side& side) {
  for (std::size_t r = 0; r < table.size(); ++r) {
    const RowSpan& span = table[r];
    if ((desc.rows[r].*side.pages).empty()) continue;  // V lives in K
    const auto body = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        write_token(desc, desc.rows[r], side, span.start + static_cast<int32_t>(i),
                    span.token_begin + i);
      }
    };
    if (span.length * desc.kv_heads * side.dim < kForkElements) {
      body(0, span.length);
    } else {
      ctx.pool->parallel_for(span.length, 16, body);
    }
  }
}

int token_count(const RowTable& table) {
  int count = 0;
  for (const auto& span : table) count += span.length;
  return count;
}

void gather_side(const KvDesc& desc, const KvRowPages& row, const Side& side, float* out) {
  const bool shared = (row.*side.pages).empty();
  const auto& pages = shared ? row.keys : row.*side.pages;
  const int64_t stored = shared ? desc.key_dim : side.dim;
  for (int32_t position = row.live_begin; position < row.live_end; ++position) {
    const PageRun run = page_run(desc, row, position, position + 1);
    for (int32_t head = 0; head < desc.kv_heads; ++head) {
      decode(page_row(pages[static_cast<std::size_t>(run.page)], desc, stored, head, run.slot),
             side.dim, desc.encoding, out);
      out += side.dim;
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
  return array::cpu_op(
      "KvWrite", {{1}, mx::int32}, {k, v}, [ctx, table, desc](const array::Operands& o) {
        write_rows(ctx, *table, *desc, {o.in<float>(0), desc->key_dim, &KvRowPages::keys});
        write_rows(ctx, *table, *desc, {o.in<float>(1), desc->value_dim, &KvRowPages::values});
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
        gather_side(*desc, pages, {nullptr, desc->key_dim, &KvRowPages::keys}, o.out<float>(0));
        gather_side(*desc, pages, {nullptr, desc->value_dim, &KvRowPages::values}, o.out<float>(1));
      });
}

}  // namespace paceline::kernels
