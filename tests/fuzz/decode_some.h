#pragma once

#include <vector>

#include "blocks/stored_tensor.h"

namespace paceline::fuzz {

/// Decodes the first and the last row of a tensor that was accepted; small ones only, to stay fast.
inline void decode_some(const blocks::StoredTensor& tensor) {
  constexpr int64_t kColumnsMax = 1 << 16;
  if (!blocks::info(tensor.encoding).decodable || tensor.rows() == 0 || tensor.columns() > kColumnsMax) return;
  std::vector<float> row(static_cast<std::size_t>(tensor.columns()));
  decode_rows(tensor, 0, 1, row);
  decode_rows(tensor, tensor.rows() - 1, 1, row);
}

}  // namespace paceline::fuzz
