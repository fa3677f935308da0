#pragma once

#include <cstdint>

#include "kernels/context.h"
#include "kernels/packed/dot.h"
#include "kernels/packed/layout.h"

namespace paceline::kernels {

/// One matrix product over packed tiles.
struct LinearArgs {
  const float* x;              ///< [rows, inputs]
  const packed::Panel* panel;  ///< x as codes: formats of codes multiply these; null: x itself
  const packed::Layout* layout;
  const uint8_t* tiles;
  int64_t tile_bytes;
  const int32_t* chosen;  ///< output tile t is the weight's tile chosen[t]; null: tile t
  const float* bias;      ///< [outputs] or null
  const float* residual;  ///< [rows, outputs] or null
  float* out;             ///< [rows, out_stride]
  int64_t out_stride;
  int64_t rows;
  int64_t inputs;
  int64_t outputs;  ///< of the weight
};

/// A product of two: out = act(gate) * up over the same x. `args` is the gate; no residual.
struct GatedArgs {
  LinearArgs args;
  const packed::Layout* up_layout;
  const uint8_t* up_tiles;
  int64_t up_tile_bytes;
  const float* up_bias;  ///< [outputs] or null
  bool gelu;             ///< gelu_tanh instead of silu
};

/// The functions of one instruction set.
struct LinearTable {
  /// All rows of the output tiles [tile_begin, tile_end).
  void (*linear)(const LinearArgs& args, int64_t tile_begin, int64_t tile_end);
  void (*gated)(const GatedArgs& args, int64_t tile_begin, int64_t tile_end);
  /// Groups [group_begin, group_end) of 32 inputs of every row of x [panel.rows, inputs].
  void (*quantize)(const float* x, int64_t inputs, const packed::Panel& panel, int64_t group_begin,
                   int64_t group_end);
  /// Panel::stride for so many rows.
  int64_t (*padded_rows)(int64_t rows);
  /// Row `lane` of a tile as floats times `scale`, [inputs].
  void (*row)(const packed::Layout& layout, const uint8_t* tile, int lane, int64_t inputs,
              float scale, float* out);
};
const LinearTable& linear_table(Isa isa);

const LinearTable& linear_table_generic();
const LinearTable& linear_table_avx2();
const LinearTable& linear_table_avx512();

}  // namespace paceline::kernels
