#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/linear.h"
#include "kernels/packed/layout.h"

namespace paceline::kernels {

/// Uninitialised memory on a 64-byte border, on huge pages where the system grants them.
class AlignedBytes {
 public:
  explicit AlignedBytes(int64_t bytes);
  uint8_t* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* p) const;
  };
  std::unique_ptr<uint8_t, Free> data_;
  int64_t size_;
};

struct LinearWeight::Impl {
  int64_t outputs = 0;
  int64_t inputs = 0;
  packed::Layout layout;
  std::optional<AlignedBytes> tiles;
  std::optional<mlx::core::array> plain;  ///< [outputs, inputs] f32, portable path

  int64_t tile_count() const { return (outputs + 15) / 16; }
};

}  // namespace paceline::kernels
