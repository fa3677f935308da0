#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "kernels/attention.h"
#include "kernels/guarded_memory.h"
#include "kernels/kv_pages.h"
#include "kernels/test_support.h"

namespace paceline::kernels::testing {

/// `length` tokens after `start` earlier ones.
struct RowShape {
  int length;
  int start;
};

/// Pages of one layer filled through kv_write, in a scattered order. Slots that hold nothing are
/// NaN, and what follows a page faults.
class Pages {
 public:
  Pages(const RowTable& table, const KvDesc& shape, int live_begin = 0, int fill = 0xff)
      : fill_(fill), desc_(shape) {
    const int64_t item = kv_item_bytes(shape.encoding);
    for (const auto& span : table) {
      KvRowPages row;
      row.live_end = span.start + span.length;
      row.live_begin = std::min(live_begin, row.live_end);
      row.first_position = row.live_begin / shape.page_tokens * shape.page_tokens;
      const int count =
          (row.live_end - row.first_position + shape.page_tokens - 1) / shape.page_tokens;
      for (int i = 0; i < count; ++i) {
        row.keys.push_back(page(item * shape.kv_heads * shape.page_tokens * shape.key_dim));
        row.values.push_back(page(item * shape.kv_heads * shape.page_tokens * shape.value_dim));
      }
      desc_.rows.push_back(row);
    }
  }
  KvDescPtr desc() const { return std::make_shared<KvDesc>(desc_); }

 private:
  std::byte* page(int64_t bytes) {
    memory_.push_back(std::make_unique<GuardedMemory>(static_cast<std::size_t>(bytes), fill_));
    return memory_.back()->data();
  }
  int fill_;
  std::vector<std::unique_ptr<GuardedMemory>> memory_;
  KvDesc desc_;
};

/// A ragged batch with random queries and a random history per row.
class PagedRows {
 public:
  PagedRows(std::vector<RowShape> shapes, int heads, int kv_heads, int key_dim, int value_dim)
      : heads(heads),
        shapes_(std::move(shapes)),
        kv_heads_(kv_heads),
        key_dim_(key_dim),
        value_dim_(value_dim) {
    uint32_t seed = 100;
    for (const auto& shape : shapes_) {
      const auto tokens = static_cast<std::size_t>(shape.start + shape.length);
      queries_.push_back(random_floats(tokens * heads * key_dim, seed++));
      keys_.push_back(random_floats(tokens * kv_heads * key_dim, seed++));
      values_.push_back(random_floats(tokens * kv_heads * value_dim, seed++));
    }
  }

  const int heads;

  RowTablePtr table() const {
    RowTable table;
    int token = 0;
    for (const auto& shape : shapes_) {
      table.push_back({token, shape.length, shape.start});
      token += shape.length;
    }
    return std::make_shared<RowTable>(table);
  }

  /// The forward's outputs [T, heads, value_dim]; the earlier tokens are written by a forward of
  /// their own.
  std::vector<float> attend(const Context& ctx, const AttendSpec& spec, int page_tokens,
                            KvEncoding encoding, int live_begin = 0) const {
    const auto now = table();
    const Pages pages(*now, shape(page_tokens, encoding), live_begin);
    const auto desc = pages.desc();
    auto before = std::make_shared<RowTable>();
    for (std::size_t r = 0; r < shapes_.size(); ++r) {
      const int from = std::min(shapes_[r].start, desc->rows[r].first_position);
      before->push_back({0, shapes_[r].start - from, from});
    }
    int token = 0;
    for (auto& span : *before) {
      span.token_begin = token;
      token += span.length;
    }
    array::evaluate(
        {kv_write(ctx, gather(keys_, *before, kv_heads_ * key_dim_, key_dim_),
                  gather(values_, *before, kv_heads_ * value_dim_, value_dim_), before, desc)});
    const auto effect =
        kv_write(ctx, gather(keys_, *now, kv_heads_ * key_dim_, key_dim_),
                 gather(values_, *now, kv_heads_ * value_dim_, value_dim_), now, desc);
    return array::to_vector(kernels::attend(ctx, gather(queries_, *now, heads * key_dim_, key_dim_),
                                            effect, now, desc, spec));
  }

  KvDesc shape(int page_tokens, KvEncoding encoding) const {
    return {.encoding = encoding,
            .page_tokens = page_tokens,
            .kv_heads = kv_heads_,
            .key_dim = key_dim_,
            .value_dim = value_dim_,
            .rows = {}};
  }

  /// The same history and queries cut into other rows: row i of the result is a piece of row
  /// `from[i]`.
  PagedRows piece(int row, int begin, int length) const {
    PagedRows result({{length, shapes_[row].start + begin}}, heads, kv_heads_, key_dim_,
                     value_dim_);
    result.queries_ = {queries_[row]};
    result.keys_ = {keys_[row]};
    result.values_ = {values_[row]};
    return result;
  }

  int values_per_token() const { return heads * value_dim_; }
  int kv_heads() const { return kv_heads_; }
  int key_dim() const { return key_dim_; }
  int value_dim() const { return value_dim_; }
  const std::vector<RowShape>& shapes() const { return shapes_; }
  /// Every position of a row from 0: [tokens][heads][key_dim] and so on.
  std::vector<float>& queries(std::size_t row) { return queries_[row]; }
  std::vector<float>& keys(std::size_t row) { return keys_[row]; }
  std::vector<float>& values(std::size_t row) { return values_[row]; }
  const std::vector<float>& queries(std::size_t row) const { return queries_[row]; }
  const std::vector<float>& keys(std::size_t row) const { return keys_[row]; }
  const std::vector<float>& values(std::size_t row) const { return values_[row]; }

  /// The positions of `table` out of the rows' histories, [T, width / dim, dim].
  static mlx::core::array gather(const std::vector<std::vector<float>>& rows, const RowTable& table,
                                 int width, int dim) {
    std::vector<float> all;
    int tokens = 0;
    for (std::size_t r = 0; r < table.size(); ++r) {
      const auto first = rows[r].begin() + static_cast<int64_t>(table[r].start) * width;
      all.insert(all.end(), first, first + static_cast<int64_t>(table[r].length) * width);
      tokens += table[r].length;
    }
    return array::f32_array(all, {tokens, width / dim, dim});
  }

 private:
  std::vector<RowShape> shapes_;
  int kv_heads_, key_dim_, value_dim_;
  std::vector<std::vector<float>> queries_, keys_, values_;  // per row: every position from 0
};

}  // namespace paceline::kernels::testing
