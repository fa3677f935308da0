#include "kernels/linear_weight.h"

#include <algorithm>
#include <string>
#include <vector>

#include "array/runtime.h"
#include "kernels/packed/pack.h"
#include "kernels/weight_memory.h"
#include "paceline/error.h"

namespace paceline::kernels {
namespace {

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

std::shared_ptr<uint8_t> pack_tiles(const Context& ctx, const blocks::StoredTensor& tensor,
                                    std::span<const int32_t> order,
                                    const LinearWeight::Impl& impl) {
  const int64_t tile_bytes = impl.layout.tile_bytes(impl.inputs);
  std::shared_ptr<uint8_t> packed = ctx.weights->take(impl.tile_count() * tile_bytes);
  ctx.pool->parallel_for(impl.tile_count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      int64_t rows[packed::kTileOutputs];
      for (int64_t lane = 0; lane < packed::kTileOutputs; ++lane) {
        const int64_t output = tile * packed::kTileOutputs + lane;
        rows[lane] = output >= impl.outputs ? -1
                     : order.empty()        ? output
                                            : order[static_cast<std::size_t>(output)];
      }
      packed::pack_tile(impl.layout, packed::rows_of(tensor, rows),
                        packed.get() + tile * tile_bytes);
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
    impl->layout = packed::layout_of(tensor);
    impl->tiles = pack_tiles(ctx, tensor, row_order, *impl);
  }
  LinearWeight weight;
  weight.impl_ = std::move(impl);
  return weight;
}

int64_t LinearWeight::outputs() const { return impl_->outputs; }
int64_t LinearWeight::inputs() const { return impl_->inputs; }
int64_t LinearWeight::resident_bytes() const {
  if (impl_->tiles) return impl_->tile_count() * impl_->layout.tile_bytes(impl_->inputs);
  return impl_->outputs * impl_->inputs * static_cast<int64_t>(sizeof(float));
}

}  // namespace paceline::kernels
