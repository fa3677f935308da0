#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/attend_spec.h"

namespace paceline::state {

class Sequence;

/// One row of a forward: `tokens` of `sequence`, which follow what it already holds.
struct BatchRow {
  Sequence* sequence = nullptr;
  std::vector<int32_t> tokens;
  std::vector<int32_t> wanted;  ///< offsets in `tokens` whose hidden state the caller reads
};

/// The one argument of every forward. tokens are the rows' tokens concatenated, [T].
class Batch {
 public:
  explicit Batch(std::vector<BatchRow> rows);

  const std::vector<BatchRow>& rows() const { return rows_; }
  const kernels::RowTablePtr& row_table() const { return table_; }
  int32_t token_count() const { return static_cast<int32_t>(positions_.size()); }
  const std::vector<int32_t>& positions() const { return positions_; }        ///< absolute, [T]
  const mlx::core::array& tokens() const { return tokens_; }                  ///< i32 [T]
  const mlx::core::array& position_array() const { return position_array_; }  ///< i32 [T]
  /// Flat indices in [0, T) of all wanted positions, row by row.
  const std::vector<int32_t>& wanted() const { return wanted_; }

  /// Per-forward cache of derived values (masks, rope tables), keyed by a value that holds
  /// everything they depend on.
  const mlx::core::array& memo(const std::string& key,
                               const std::function<mlx::core::array()>& make) const;

 private:
  std::vector<BatchRow> rows_;
  kernels::RowTablePtr table_;
  std::vector<int32_t> positions_;
  std::vector<int32_t> wanted_;
  mlx::core::array tokens_;
  mlx::core::array position_array_;
  mutable std::map<std::string, mlx::core::array> memo_;
};

}  // namespace paceline::state
