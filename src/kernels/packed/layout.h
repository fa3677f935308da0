#pragma once

#include <cstdint>

#include "blocks/stored_tensor.h"

namespace paceline::kernels::packed {

/// For functions of headers that files of different instruction sets include: a copy that the
/// linker shares would run with the wrong one.
#define PACELINE_INLINE [[gnu::always_inline]] inline

/// Inputs of a tile that are unpacked together. Every unit divides it.
inline constexpr int kChunkInputs = 256;
inline constexpr int kTileOutputs = 16;

/// How a weight matrix lies in memory: tiles of 16 outputs, one after another; in a tile, units of
/// `unit_inputs` inputs, k ascending, padded with zeros to whole units. Formats of codes mean
/// w = scale * (code - zero) [+ min], scale and min per output and group of `group` inputs.
struct Layout {
  int format = -1;     ///< index in the list of formats
  bool codes = false;  ///< integer codes; else values that are read as floats
  int64_t unit_inputs = 1;
  int64_t unit_bytes = 0;
  int group = 32;  ///< 32 or 16 (longer groups of a file repeat their scale)
  int zero = 0;
  bool mins = false;    ///< then zero = 0
  int code_max = 0;     ///< codes as products see them are 0 .. code_max
  int file_group = 32;  ///< inputs per scale in the file (affine)
  blocks::Encoding scale_encoding = blocks::Encoding::f16;  ///< of scales and mins (affine)

  int64_t chunk_bytes = 0;  ///< kChunkInputs / unit_inputs units

  int64_t tile_bytes(int64_t inputs) const {
    return (inputs + unit_inputs - 1) / unit_inputs * unit_bytes;
  }
};

/// A stored row that is packed into one lane; codes = null: a row of zeros.
struct PackRow {
  const uint8_t* codes = nullptr;   ///< GGUF blocks, plain values or MLX codes
  const uint8_t* scales = nullptr;  ///< MLX groups
  const uint8_t* biases = nullptr;
};

/// 16 rows of the file on their way into a tile.
struct PackRows {
  PackRow lanes[kTileOutputs];
  int64_t inputs = 0;
};

}  // namespace paceline::kernels::packed
