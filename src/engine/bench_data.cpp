#include "engine/bench_data.h"

namespace paceline::engine {

uint32_t BenchRandom::next() {
  state_ = state_ * 1664525 + 1013904223;
  return state_ >> 8;
}

float BenchRandom::in_unit() { return static_cast<float>(next() % 2001) / 1000.0F - 1; }

std::vector<std::byte> scale_bytes(std::size_t count) {
  BenchRandom random(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(0x20 + random.next() % 0x1b);
  return bytes;
}

mlx::core::array bench_floats(const mlx::core::Shape& shape) {
  BenchRandom random(11);
  std::size_t count = 1;
  for (const int n : shape) count *= static_cast<std::size_t>(n);
  std::vector<float> values(count);
  for (float& value : values) value = random.in_unit();
  return mlx::core::array(values.data(), shape, mlx::core::float32);
}

}  // namespace paceline::engine
