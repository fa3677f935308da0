#pragma once

#include <mlx/array.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace paceline::array {

/// The raw operands of one call: inputs row-contiguous, outputs allocated and uninitialised. Data
/// is only 8-byte aligned (MLX's allocator).
struct Operands {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;

  template <class T>
  const T* in(std::size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <class T>
  T* out(std::size_t i = 0) const {
    return static_cast<T*>(outputs[i]);
  }
};

/// Runs on MLX's stream thread once the inputs are computed. An exception reaches whoever
/// evaluates.
using CpuKernel = std::function<void(const Operands&)>;

struct OutputSpec {
  mlx::core::Shape shape;
  mlx::core::Dtype dtype;
};

/// A graph node on the calling thread's CPU stream that runs `kernel`. Inputs that are not
/// row-contiguous are copied first. Nodes are never merged with equal ones, so a kernel may write
/// memory of its own. `name` must be a literal.
mlx::core::array cpu_op(const char* name, OutputSpec output, std::vector<mlx::core::array> inputs,
                        CpuKernel kernel);
std::vector<mlx::core::array> cpu_ops(const char* name, const std::vector<OutputSpec>& outputs,
                                      const std::vector<mlx::core::array>& inputs,
                                      CpuKernel kernel);

}  // namespace paceline::array
