#include "array/cpu_primitive.h"

#include <mlx/allocator.h>
#include <mlx/backend/cpu/encoder.h>
#include <mlx/ops.h>
#include <mlx/primitives.h>

#include <cstring>
#include <memory>

#include "array/runtime.h"
#include "base/assert.h"
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

thread_local bool eager = false;

const void* finished(const char* name, const mx::array& input) {
  const bool ready = input.size() == 0 || (input.status() == mx::array::Status::available &&
                                           input.flags().row_contiguous);
  if (!ready) {
    throw Error(ErrorCode::internal,
                std::string("[") + name + "] an operand is not finished, expected it inside Eager");
  }
  return input.size() == 0 ? nullptr : input.data<void>();
}

mx::array finished_array(const OutputSpec& spec) {
  mx::array output(spec.shape, spec.dtype, nullptr, {});
  output.set_data(mx::allocator::malloc(output.nbytes()));
  output.set_status(mx::array::Status::available);
  return output;
}

std::vector<mx::array> run_now(const char* name, const std::vector<OutputSpec>& outputs,
                               const std::vector<mx::array>& inputs, const CpuKernel& kernel) {
  Operands operands;
  for (const auto& input : inputs) operands.inputs.push_back(finished(name, input));
  std::vector<mx::array> results;
  for (const auto& output : outputs) {
    results.push_back(finished_array(output));
    operands.outputs.push_back(results.back().data<void>());
  }
  kernel(operands);
  return results;
}

}  // namespace

Eager::Eager() {
  PACELINE_ASSERT(!eager);
  eager = true;
}
Eager::~Eager() { eager = false; }

mx::array reshape(const mx::array& x, mx::Shape shape) {
  if (!eager) return mx::reshape(x, std::move(shape));
  mx::array view(std::move(shape), x.dtype(), nullptr, {});
  PACELINE_ASSERT(view.size() == x.size());
  finished("reshape", x);
  mx::Strides strides(view.ndim());
  int64_t stride = 1;
  for (std::size_t axis = view.ndim(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= view.shape(static_cast<int>(axis));
  }
  view.copy_shared_buffer(x, strides, x.flags(), x.data_size());
  view.set_status(mx::array::Status::available);
  return view;
}

mx::array take_rows(const mx::array& x, std::vector<int32_t> rows) {
  mx::Shape shape = x.shape();
  std::size_t bytes = x.itemsize();
  for (std::size_t axis = 1; axis < shape.size(); ++axis)
    bytes *= static_cast<std::size_t>(shape[axis]);
  for (const int32_t row : rows) PACELINE_ASSERT(row >= 0 && row < x.shape(0));
  shape[0] = static_cast<int>(rows.size());
  return cpu_op(
      "TakeRows", {shape, x.dtype()}, {x}, [bytes, rows = std::move(rows)](const Operands& o) {
        auto* to = o.out<std::byte>();
        for (const int32_t row : rows) {
          std::memcpy(to, o.in<std::byte>(0) + static_cast<std::size_t>(row) * bytes, bytes);
          to += bytes;
        }
      });
}

mx::array cpu_op(const char* name, OutputSpec output, std::vector<mx::array> inputs,
                 CpuKernel kernel) {
  if (eager) return run_now(name, {std::move(output)}, inputs, kernel).front();
  auto primitive = std::make_shared<CpuPrimitive>(cpu_stream(), name, std::move(kernel));
  return mx::array(std::move(output.shape), output.dtype, std::move(primitive), std::move(inputs));
}

std::vector<mx::array> cpu_ops(const char* name, const std::vector<OutputSpec>& outputs,
                               const std::vector<mx::array>& inputs, CpuKernel kernel) {
  if (eager) return run_now(name, outputs, inputs, kernel);
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
