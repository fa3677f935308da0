#pragma once

#include <cstring>

#include "kernels/packed/layout.h"

// Values that are read as floats, with float activations in every numerics.

namespace paceline::kernels::packed {

/// One value per element: a unit is [16 inputs][16 outputs] as stored.
template <blocks::Encoding E, int Bytes>
struct Plain {
  static bool takes(const blocks::StoredTensor& tensor) { return tensor.encoding == E; }
  static Layout layout(const blocks::StoredTensor&) {
    return {.unit_inputs = 16, .unit_bytes = 256 * Bytes};
  }

  static void pack_unit(const Layout&, const PackRows& rows, int64_t unit, uint8_t* out) {
    const int64_t left = rows.inputs - unit * 16;
    const int count = left < 16 ? static_cast<int>(left) : 16;
    for (int lane = 0; lane < kTileOutputs; ++lane) {
      if (rows.lanes[lane].codes == nullptr) continue;
      const uint8_t* in = rows.lanes[lane].codes + unit * 16 * Bytes;
      for (int k = 0; k < count; ++k) {
        std::memcpy(out + (k * 16 + lane) * Bytes, in + k * Bytes, Bytes);
      }
    }
  }

  /// Values of `inputs` inputs: [inputs][16].
  template <class B>
  static void unpack(const Layout&, const uint8_t* chunk, int inputs, float* out) {
    for (int k = 0; k < inputs; ++k) {
      const uint8_t* in = chunk + k * 16 * Bytes;
      B::V::prefetch(in + B::kPrefetchBytes);
      if constexpr (E == blocks::Encoding::f16) {
        B::V::store(out + k * 16, B::load_f16(in));
      } else if constexpr (E == blocks::Encoding::bf16) {
        B::V::store(out + k * 16, B::V::load_bf16(reinterpret_cast<const uint16_t*>(in)));
      } else {
        B::V::store(out + k * 16, B::V::load(reinterpret_cast<const float*>(in)));
      }
    }
  }
};

/// MLX MXFP8: E4M3 values with one E8M0 scale per 32. A unit: scales [4][16], codes [128][16].
struct Mxfp8 {
  static bool takes(const blocks::StoredTensor& tensor) {
    return tensor.encoding == blocks::Encoding::mlx_mxfp8;
  }
  static Layout layout(const blocks::StoredTensor&) {
    return {.unit_inputs = 128, .unit_bytes = 64 + 128 * 16};
  }

  static void pack_unit(const Layout&, const PackRows& rows, int64_t unit, uint8_t* out) {
    const int64_t left = rows.inputs - unit * 128;
    const int count = left < 128 ? static_cast<int>(left) : 128;
    for (int lane = 0; lane < kTileOutputs; ++lane) {
      const PackRow& row = rows.lanes[lane];
      if (row.codes == nullptr) continue;
      for (int g = 0; g < count / 32; ++g) out[g * 16 + lane] = row.scales[unit * 4 + g];
      for (int k = 0; k < count; ++k) out[64 + k * 16 + lane] = row.codes[unit * 128 + k];
    }
  }

  template <class B>
  static void unpack(const Layout& layout, const uint8_t* chunk, int inputs, float* out) {
    using V = typename B::V;
    for (int k = 0; k < inputs; ++k) {
      const uint8_t* unit = chunk + k / 128 * layout.unit_bytes;
      const auto scale = B::load_e8m0(unit + k % 128 / 32 * 16);
      const uint8_t* codes = unit + 64 + k % 128 * 16;
      V::prefetch(codes + B::kPrefetchBytes);
      V::store(out + k * 16, V::mul(scale, B::load_e4m3(codes)));
    }
  }
};

}  // namespace paceline::kernels::packed
