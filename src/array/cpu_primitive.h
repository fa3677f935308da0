#pragma once

#include <mlx/array.h>

#include <cstddef>
#include <cstdint>
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

/// While one exists, cpu_op and cpu_ops of this thread run their kernel at once, on this thread,
/// and return finished arrays; their inputs must be finished, row-contiguous arrays
/// (Error{internal} otherwise). A forward of a few hundred small operations then costs no graph, no
/// queue and no other thread. The kernels and their bits are the same. Scopes do not nest.
class Eager {
 public:
  Eager();
  ~Eager();
  Eager(const Eager&) = delete;
  Eager& operator=(const Eager&) = delete;
};

/// The same values in another shape of equal size; finished at once inside Eager.
mlx::core::array reshape(const mlx::core::array& x, mlx::core::Shape shape);

/// Rows of x [T, ...] by index, each in range.
mlx::core::array take_rows(const mlx::core::array& x, std::vector<int32_t> rows);

/// A graph node on the calling thread's CPU stream that runs `kernel`. Inputs that are not
/// row-contiguous are copied first. Nodes are never merged with equal ones, so a kernel may write
/// memory of its own. `name` must be a literal.
mlx::core::array cpu_op(const char* name, OutputSpec output, std::vector<mlx::core::array> inputs,
                        CpuKernel kernel);
std::vector<mlx::core::array> cpu_ops(const char* name, const std::vector<OutputSpec>& outputs,
                                      const std::vector<mlx::core::array>& inputs,
                                      CpuKernel kernel);

}  // namespace paceline::array
