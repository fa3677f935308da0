#include "kernels/panel.h"

#include "base/assert.h"
#include "kernels/linear_kernel.h"

namespace paceline::kernels {
namespace {

constexpr int64_t kForkValues = 32768;

/// Cuts one block of memory into arrays on 64-byte borders.
class Cutter {
 public:
  explicit Cutter(uint8_t* at) : start_(at) {}
  template <class T>
  T* take(int64_t count) {
    uint8_t* const at = start_ == nullptr ? nullptr : start_ + used_;
    used_ += (count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T*>(at);
  }
  int64_t used() const { return used_; }

 private:
  uint8_t* start_;
  int64_t used_ = 0;
};

packed::Panel cut(Cutter& memory, int64_t rows, int64_t stride, int64_t groups) {
  packed::Panel panel;
  panel.rows = rows;
  panel.stride = stride;
  panel.codes = memory.take<int8_t>(groups * stride * 32);
  panel.scales = memory.take<float>(groups * stride);
  for (int which = 0; which < 2; ++which) {
    panel.sums[which] = memory.take<int32_t>(groups * stride * (which + 1));
    panel.scaled_sums[which] = memory.take<float>(groups * stride * (which + 1));
  }
  return panel;
}

}  // namespace

uint8_t* Workspace::bytes(int64_t count) {
  if (!memory_ || memory_->size() < count) {
    memory_.reset();  // the old one first: both need not exist at once
    memory_.emplace(count);
  }
  return memory_->data();
}

packed::Panel make_panel(const Context& ctx, const float* x, int64_t rows, int64_t inputs) {
  PACELINE_ASSERT(inputs % 32 == 0);
  const int64_t groups = inputs / 32;
  const int64_t stride = linear_table(ctx.isa).padded_rows(rows);
  Cutter measure(nullptr);
  cut(measure, rows, stride, groups);
  Cutter memory(ctx.workspace->bytes(measure.used()));
  const packed::Panel panel = cut(memory, rows, stride, groups);
  const auto fill = [&](int64_t begin, int64_t end) {
    linear_table(ctx.isa).quantize(x, inputs, panel, begin, end);
  };
  if (rows * inputs < kForkValues) {
    fill(0, groups);
  } else {
    ctx.pool->parallel_for(groups, 1, fill);
  }
  return panel;
}

}  // namespace paceline::kernels
