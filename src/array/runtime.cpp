#include "array/runtime.h"

#include <mlx/device.h>
#include <mlx/memory.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>
#include <mlx/version.h>

#include <algorithm>
#include <string>

#include "paceline/error.h"

namespace paceline::array {
namespace mx = mlx::core;
namespace {

void check_count(int64_t have, const mx::Shape& shape) {
  int64_t want = 1;
  for (const int extent : shape) want *= extent;
  if (have != want) {
    throw Error(
        ErrorCode::invalid_argument,
        "[array] " + std::to_string(have) + " values, the shape needs " + std::to_string(want));
  }
}

template <class T>
void copy_elements(const mx::array& source, mx::Dtype dtype, std::span<T> out) {
  if (source.dtype() != dtype || source.size() != out.size()) {
    throw Error(ErrorCode::invalid_argument,
                "[copy_out] array has " + std::to_string(source.size()) +
                    " elements or another dtype, expected " + std::to_string(out.size()));
  }
  mx::array rows = mx::contiguous(source);
  rows.eval();
  if (!out.empty()) std::copy_n(rows.data<T>(), out.size(), out.data());
}

}  // namespace

void check_mlx_version() {
  const std::string header = std::to_string(MLX_VERSION_MAJOR) + "." +
                             std::to_string(MLX_VERSION_MINOR) + "." +
                             std::to_string(MLX_VERSION_PATCH);
  check_mlx_version(header, mx::version());
}

void check_mlx_version(std::string_view header, std::string_view library) {
  if (header == library) return;
  throw Error(ErrorCode::unsupported, "[mlx] the loaded library is version " +
                                          std::string(library) + ", this build needs " +
                                          std::string(header));
}

mx::Stream cpu_stream() { return mx::default_stream(mx::Device::cpu); }

void evaluate(std::vector<mx::array> arrays) { mx::eval(std::move(arrays)); }

mx::array f32_array(std::span<const float> values, mx::Shape shape) {
  check_count(static_cast<int64_t>(values.size()), shape);
  return mx::array(values.data(), std::move(shape), mx::float32);
}

mx::array i32_array(std::span<const int32_t> values, mx::Shape shape) {
  check_count(static_cast<int64_t>(values.size()), shape);
  return mx::array(values.data(), std::move(shape), mx::int32);
}

void copy_out(const mx::array& source, std::span<float> out) {
  copy_elements(source, mx::float32, out);
}

void copy_out(const mx::array& source, std::span<int32_t> out) {
  copy_elements(source, mx::int32, out);
}

std::vector<float> to_vector(const mx::array& source) {
  std::vector<float> out(source.size());
  copy_out(source, std::span<float>(out));
  return out;
}

void set_memory_limits(const MemoryLimits& limits) {
  if (limits.memory_bytes > 0) mx::set_memory_limit(limits.memory_bytes);
  if (limits.cache_bytes > 0) mx::set_cache_limit(limits.cache_bytes);
}

}  // namespace paceline::array
