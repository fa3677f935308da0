#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/linear.h"
#include "kernels/packed/layout.h"

namespace paceline::kernels {

struct LinearWeight::Impl {
  int64_t outputs = 0;
  int64_t inputs = 0;
  packed::Layout layout;
  std::shared_ptr<const uint8_t> tiles;   ///< null on the portable path
  std::optional<mlx::core::array> plain;  ///< [outputs, inputs] f32, portable path

  int64_t tile_count() const { return (outputs + 15) / 16; }
};

}  // namespace paceline::kernels
