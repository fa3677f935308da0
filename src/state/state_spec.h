#pragma once

#include <cstdint>
#include <vector>

namespace paceline::state {

enum class LayerKind : uint8_t { none, full, sliding };

/// What one layer keeps per sequence. A model's state_spec() lists one per layer.
struct LayerSpec {
  LayerKind kind = LayerKind::full;
  int32_t kv_heads = 0;
  int32_t key_dim = 0;
  int32_t value_dim = 0;
  int32_t window = 0;  ///< sliding only: tokens a query sees, itself included
};
using StateSpec = std::vector<LayerSpec>;

}  // namespace paceline::state
