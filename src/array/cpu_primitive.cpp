#include "array/cpu_primitive.h"

#include <mlx/allocator.h>
#include <mlx/backend/cpu/encoder.h>
#include <mlx/primitives.h>

#include <cstring>
#include <memory>

#include "array/runtime.h"
#include "paceline/error.h"

namespace paceline::array {
namespace mx = mlx::core;
namespace {

struct StridedCopy {
  const std::byte* source;
  std::byte* target;
  std::size_t item;
  mx::Shape shape;
  mx::Strides strides;

  std::byte* copy_axis(std::size_t axis, const std::byte* from, std::byte* to) const {
    if (axis == shape.size()) {
      std::memcpy(to, from, item);
      return to + item;
    }
    for (int i = 0; i < shape[axis]; ++i) {
      to = copy_axis(axis + 1, from + i * strides[axis] * static_cast<int64_t>(item), to);
    }
    return to;
  }
  void operator()() const { copy_axis(0, source, target); }
};

class CpuPrimitive final : public mx::Primitive {
 public:
  CpuPrimitive(mx::Stream stream, const char* name, CpuKernel kernel)
      : Primitive(stream),
        name_(name),
        kernel_(std::make_shared<const CpuKernel>(std::move(kernel))) {}

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override {
    auto& encoder = mx::cpu::get_command_encoder(stream());
    Operands operands;
    for (const auto& input : inputs) operands.inputs.push_back(rows_of(input, encoder));
    for (auto& output : outputs) {
      output.set_data(mx::allocator::malloc(output.nbytes()));
      operands.outputs.push_back(output.data<void>());
    }
    encoder.dispatch([kernel = kernel_, operands = std::move(operands)] { (*kernel)(operands); });
  }

  void eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw Error(ErrorCode::unsupported, std::string("[") + name_ + "] runs on the CPU only");
  }

  const char* name() const override { return name_; }

 private:
  static const void* rows_of(const mx::array& input, mx::cpu::CommandEncoder& encoder) {
    if (input.flags().row_contiguous || input.size() == 0) return input.data<void>();
    mx::array rows(input.shape(), input.dtype(), nullptr, {});
    rows.set_data(mx::allocator::malloc(rows.nbytes()));
    encoder.add_temporary(rows);
    encoder.dispatch(StridedCopy{input.data<std::byte>(), rows.data<std::byte>(), input.itemsize(),
                                 input.shape(), input.strides()});
    return rows.data<void>();
  }

  const char* name_;
  std::shared_ptr<const CpuKernel>
      kernel_;  // shared with the queued task, which may outlive the node
};

}  // namespace

mx::array cpu_op(const char* name, OutputSpec output, std::vector<mx::array> inputs,
                 CpuKernel kernel) {
  auto primitive = std::make_shared<CpuPrimitive>(cpu_stream(), name, std::move(kernel));
  return mx::array(std::move(output.shape), output.dtype, std::move(primitive), std::move(inputs));
}

std::vector<mx::array> cpu_ops(const char* name, const std::vector<OutputSpec>& outputs,
                               const std::vector<mx::array>& inputs, CpuKernel kernel) {
  std::vector<mx::Shape> shapes;
  std::vector<mx::Dtype> dtypes;
  for (const auto& output : outputs) {
    shapes.push_back(output.shape);
    dtypes.push_back(output.dtype);
  }
  auto primitive = std::make_shared<CpuPrimitive>(cpu_stream(), name, std::move(kernel));
  return mx::array::make_arrays(std::move(shapes), dtypes, primitive, inputs);
}

}  // namespace paceline::array
