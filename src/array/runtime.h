#pragma once

#include <mlx/array.h>
#include <mlx/stream.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace paceline::array {

/// Throws Error{unsupported} naming both unless the MLX library that was loaded is the version of
/// the headers that were compiled: MLX promises no ABI. Call once at start.
void check_mlx_version();
/// The same decision on given versions.
void check_mlx_version(std::string_view header, std::string_view library);

/// The calling thread's default stream on the CPU.
mlx::core::Stream cpu_stream();

/// Evaluates and waits.
void evaluate(std::vector<mlx::core::array> arrays);

/// Copies `values` into a new array. Throws Error{invalid_argument} unless the shape has that many
/// elements.
mlx::core::array f32_array(std::span<const float> values, mlx::core::Shape shape);
mlx::core::array i32_array(std::span<const int32_t> values, mlx::core::Shape shape);

/// Evaluates `source` and copies its elements in row-major order. Throws Error{invalid_argument}
/// when the size or the dtype differs.
void copy_out(const mlx::core::array& source, std::span<float> out);
void copy_out(const mlx::core::array& source, std::span<int32_t> out);
std::vector<float> to_vector(const mlx::core::array& source);

/// MLX keeps at most `cache_bytes` of freed buffers for reuse (its default of 32 MB makes every
/// larger activation fault its pages again) and throttles evaluation above `memory_bytes`. 0 leaves
/// a limit as it is.
struct MemoryLimits {
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;
};
void set_memory_limits(const MemoryLimits& limits);

}  // namespace paceline::array
