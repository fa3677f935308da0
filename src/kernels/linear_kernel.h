#pragma once

#include <cstdint>

#include "kernels/context.h"

namespace paceline::kernels {

/// One matrix product over packed tiles ([outputs / 16][inputs][16]).
struct LinearArgs {
  const float* x;  ///< [rows, inputs]
  const float* tiles;
  const float* bias;      ///< [outputs] or null
  const float* residual;  ///< [rows, outputs] or null
  float* out;             ///< [rows, outputs]
  int64_t rows;
  int64_t inputs;
  int64_t outputs;
};

/// A product of two: out = act(gate) * up over the same x. `args` is the gate; its residual is
/// null.
struct GatedArgs {
  LinearArgs args;
  const float* up_tiles;
  const float* up_bias;  ///< [outputs] or null
  float* scratch;        ///< [rows][16 * tiles of the range]
  bool gelu;             ///< gelu_tanh instead of silu
};

/// The functions of one instruction set. Each handles all rows of the output tiles [tile_begin,
/// tile_end).
struct LinearTable {
  void (*linear)(const LinearArgs& args, int64_t tile_begin, int64_t tile_end);
  void (*gated)(const GatedArgs& args, int64_t tile_begin, int64_t tile_end);
};
const LinearTable& linear_table(Isa isa);

const LinearTable& linear_table_generic();
const LinearTable& linear_table_avx2();
const LinearTable& linear_table_avx512();

}  // namespace paceline::kernels
