#include "kernels/linear_run.h"

#include "kernels/panel.h"

namespace paceline::kernels {
namespace {

constexpr int64_t kForkProducts = 32768;  // below it a fork costs more than it saves

}  // namespace

bool by_codes(const Context& ctx, const LinearWeight& weight) {
  return ctx.numerics == Numerics::fast && weight.impl().layout.codes;
}

LinearArgs make_args(const float* x, int64_t rows, const LinearWeight& weight, float* out) {
  const LinearWeight::Impl& w = weight.impl();
  return {.x = x,
          .panel = nullptr,
          .layout = &w.layout,
          .tiles = w.tiles.get(),
          .tile_bytes = w.layout.tile_bytes(w.inputs),
          .chosen = nullptr,
          .bias = nullptr,
          .residual = nullptr,
          .out = out,
          .out_stride = w.outputs,
          .rows = rows,
          .inputs = w.inputs,
          .outputs = w.outputs};
}

std::optional<packed::Panel> panel_for(const Context& ctx, const float* x, int64_t rows,
                                       std::initializer_list<const LinearWeight*> weights) {
  for (const LinearWeight* weight : weights) {
    if (by_codes(ctx, *weight)) return make_panel(ctx, x, rows, weight->inputs());
  }
  return std::nullopt;
}

void over_tiles(const Context& ctx, const LinearArgs& args, int64_t tiles,
                const std::function<void(int64_t, int64_t)>& body) {
  if (args.rows == 0 || tiles == 0) return;
  if (args.rows * args.inputs * tiles * 16 < kForkProducts) {
    body(0, tiles);
  } else {
    ctx.pool->parallel_for(tiles, 1, body);
  }
}

const LinearTable& linear_table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return linear_table_avx512();
  if (isa == Isa::avx2) return linear_table_avx2();
#endif
  static_cast<void>(isa);
  return linear_table_generic();
}

}  // namespace paceline::kernels
