#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/linear.h"

namespace paceline::kernels {

/// Zeroed f32 memory on a 64-byte border, on huge pages where the system grants them.
class AlignedFloats {
 public:
  explicit AlignedFloats(int64_t count);
  float* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float* p) const;
  };
  std::unique_ptr<float, Free> data_;
};

struct LinearWeight::Impl {
  int64_t outputs = 0;
  int64_t inputs = 0;
  std::optional<AlignedFloats> tiles;     ///< [ceil(outputs / 16)][inputs][16]
  std::optional<mlx::core::array> plain;  ///< [outputs, inputs], portable path

  int64_t tile_count() const { return (outputs + 15) / 16; }
};

}  // namespace paceline::kernels
