#include "state/batch.h"

#include <mlx/dtype.h>

#include <algorithm>

#include "base/assert.h"
#include "state/store.h"

namespace paceline::state {
namespace {

mlx::core::array to_array(const std::vector<int32_t>& values) {
  return mlx::core::array(values.data(), {static_cast<int>(values.size())}, mlx::core::int32);
}

kernels::RowTablePtr make_table(const std::vector<BatchRow>& rows) {
  kernels::RowTable table;
  int32_t begin = 0;
  for (const BatchRow& row : rows) {
    PACELINE_ASSERT(row.sequence != nullptr && !row.tokens.empty());
    const auto length = static_cast<int32_t>(row.tokens.size());
    table.push_back({.token_begin = begin, .length = length, .start = row.sequence->length()});
    begin += length;
  }
  return std::make_shared<const kernels::RowTable>(std::move(table));
}

std::vector<int32_t> concatenate_tokens(const std::vector<BatchRow>& rows) {
  std::vector<int32_t> tokens;
  for (const BatchRow& row : rows)
    tokens.insert(tokens.end(), row.tokens.begin(), row.tokens.end());
  return tokens;
}

std::vector<int32_t> make_positions(const kernels::RowTable& table) {
  std::vector<int32_t> positions;
  for (const kernels::RowSpan& span : table) {
    for (int32_t i = 0; i < span.length; ++i) positions.push_back(span.start + i);
  }
  return positions;
}

std::vector<int32_t> flat_wanted(const std::vector<BatchRow>& rows,
                                 const kernels::RowTable& table) {
  std::vector<int32_t> wanted;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (const int32_t offset : rows[r].wanted) {
      PACELINE_ASSERT(offset >= 0 && offset < table[r].length);
      wanted.push_back(table[r].token_begin + offset);
    }
  }
  return wanted;
}

}  // namespace

Batch::Batch(std::vector<BatchRow> rows)
    : rows_(std::move(rows)),
      table_(make_table(rows_)),
      positions_(make_positions(*table_)),
      wanted_(flat_wanted(rows_, *table_)),
      tokens_(to_array(concatenate_tokens(rows_))),
      position_array_(to_array(positions_)) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    for (size_t j = i + 1; j < rows_.size(); ++j) {
      PACELINE_ASSERT(rows_[i].sequence != rows_[j].sequence);
    }
  }
}

const mlx::core::array& Batch::memo(const std::string& key,
                                    const std::function<mlx::core::array()>& make) const {
  const auto found = memo_.find(key);
  if (found != memo_.end()) return found->second;
  return memo_.emplace(key, make()).first->second;
}

}  // namespace paceline::state
