#pragma once

#include <mlx/array.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paceline::engine {

/// A small fixed generator for the operands of measurements: the same values in every run.
class BenchRandom {
 public:
  explicit BenchRandom(uint32_t seed) : state_(seed) {}
  uint32_t next();
  float in_unit();  ///< [-1, 1]

 private:
  uint32_t state_;
};

/// Bytes that are a finite, normal number in every float format: 2^-95 to 1.
std::vector<std::byte> scale_bytes(std::size_t count);

/// f32 values in [-1, 1].
mlx::core::array bench_floats(const mlx::core::Shape& shape);

}  // namespace paceline::engine
