#pragma once

#include <mlx/array.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "array/runtime.h"
#include "blocks/stored_tensor.h"
#include "kernels/context.h"
#include "kernels/linear.h"

/// Shared by this folder's tests.
namespace paceline::kernels::testing {

inline std::vector<float> random_floats(std::size_t count, uint32_t seed, float spread = 1.0F) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, spread);
  std::vector<float> values(count);
  for (auto& value : values) value = normal(generator);
  return values;
}

inline mlx::core::array random_array(mlx::core::Shape shape, uint32_t seed, float spread = 1.0F) {
  std::size_t count = 1;
  for (const int extent : shape) count *= static_cast<std::size_t>(extent);
  return array::f32_array(random_floats(count, seed, spread), std::move(shape));
}

inline blocks::StoredTensor stored(const std::vector<float>& values, int64_t rows,
                                   int64_t columns) {
  return {.name = "test",
          .encoding = blocks::Encoding::f32,
          .shape = {rows, columns},
          .data = std::as_bytes(std::span(values)),
          .groups = {}};
}

inline std::vector<Isa> machine_isas() {
  std::vector<Isa> isas{Isa::generic};
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (isa <= detect_isa()) isas.push_back(isa);
  }
  return isas;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// max |a - b| / max |b|
inline double relative_error(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double error = 0.0, largest = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(double{a[i]} - double{b[i]});
    if (std::isnan(difference)) return INFINITY;
    error = std::max(error, difference);
    largest = std::max(largest, std::fabs(double{b[i]}));
  }
  return error / largest;
}

}  // namespace paceline::kernels::testing
