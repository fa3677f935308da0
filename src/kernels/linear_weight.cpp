#include "kernels/linear_weight.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "array/runtime.h"
#include "paceline/error.h"

namespace paceline::kernels {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Where the rows of a weight come from: stored row `order[i]`, or i.
struct RowSource {
  const blocks::StoredTensor& tensor;
  std::span<const int32_t> order;

  void decode(int64_t output, int64_t count, std::span<float> out) const {
    if (order.empty()) {
      blocks::decode_rows(tensor, output, count, out);
      return;
    }
    const int64_t columns = tensor.columns();
    for (int64_t i = 0; i < count; ++i) {
      blocks::decode_rows(
          tensor, order[static_cast<std::size_t>(output + i)], 1,
          out.subspan(static_cast<std::size_t>(i * columns), static_cast<std::size_t>(columns)));
    }
  }
};

void check_tensor(const blocks::StoredTensor& tensor, std::span<const int32_t> order) {
  if (tensor.shape.size() != 2) {
    throw Error(ErrorCode::bad_checkpoint, "[linear] tensor '" + tensor.name + "' has " +
                                               std::to_string(tensor.shape.size()) +
                                               " axes, expected 2");
  }
  for (const int32_t row : order) {
    if (row < 0 || row >= tensor.rows()) {
      throw Error(ErrorCode::invalid_argument, "[linear] row " + std::to_string(row) +
                                                   " of tensor '" + tensor.name + "', which has " +
                                                   std::to_string(tensor.rows()));
    }
  }
}

void pack_tile(const float* rows, int64_t count, int64_t inputs, float* tile) {
  for (int64_t lane = 0; lane < count; ++lane) {
    const float* row = rows + lane * inputs;
    for (int64_t k = 0; k < inputs; ++k) tile[k * 16 + lane] = row[k];
  }
}

AlignedFloats pack_tiles(const Context& ctx, const RowSource& source, int64_t outputs,
                         int64_t inputs) {
  const int64_t tiles = (outputs + 15) / 16;
  AlignedFloats packed(tiles * inputs * 16);
  ctx.pool->parallel_for(tiles, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> rows(static_cast<std::size_t>(16 * inputs));
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t count = std::min<int64_t>(16, outputs - tile * 16);
      source.decode(tile * 16, count,
                    std::span<float>(rows).first(static_cast<std::size_t>(count * inputs)));
      pack_tile(rows.data(), count, inputs, packed.data() + tile * inputs * 16);
    }
  });
  return packed;
}

mlx::core::array decode_plain(const RowSource& source, int64_t outputs, int64_t inputs) {
  std::vector<float> rows(static_cast<std::size_t>(outputs * inputs));
  source.decode(0, outputs, rows);
  return array::f32_array(rows, {static_cast<int>(outputs), static_cast<int>(inputs)});
}

}  // namespace

AlignedFloats::AlignedFloats(int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(std::max<int64_t>(count, 1)) * sizeof(float);
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<float*>(std::aligned_alloc(alignment, rounded)));
  if (!data_) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(data_.get(), rounded, MADV_HUGEPAGE);
  std::memset(data_.get(), 0, rounded);
}

void AlignedFloats::Free::operator()(float* p) const { std::free(p); }

LinearWeight LinearWeight::pack(const Context& ctx, const blocks::StoredTensor& tensor,
                                std::span<const int32_t> row_order) {
  check_tensor(tensor, row_order);
  const RowSource source{tensor, row_order};
  auto impl = std::make_shared<Impl>();
  impl->outputs = row_order.empty() ? tensor.rows() : static_cast<int64_t>(row_order.size());
  impl->inputs = tensor.columns();
  if (ctx.portable) {
    impl->plain = decode_plain(source, impl->outputs, impl->inputs);
  } else {
    impl->tiles = pack_tiles(ctx, source, impl->outputs, impl->inputs);
  }
  LinearWeight weight;
  weight.impl_ = std::move(impl);
  return weight;
}

int64_t LinearWeight::outputs() const { return impl_->outputs; }
int64_t LinearWeight::inputs() const { return impl_->inputs; }
int64_t LinearWeight::resident_bytes() const {
  const int64_t rows = impl_->plain ? impl_->outputs : impl_->tile_count() * 16;
  return rows * impl_->inputs * static_cast<int64_t>(sizeof(float));
}

}  // namespace paceline::kernels
