#pragma once

#include <cstring>

#include "kernels/packed/layout.h"
#include "kernels/packed/planes_inl.h"

// MLX affine groups: w = scale * code + bias. A unit is one group of the file (32, 64 or 128
// inputs) of 16 rows: scales [16] and biases [16] as stored, codes [group / 32].

namespace paceline::kernels::packed {

template <int Bits>
struct Affine {
  using Codes = Planes<Bits>;

  static bool takes(const blocks::StoredTensor& tensor) {
    return tensor.encoding == blocks::Encoding::mlx_affine && tensor.groups &&
           tensor.groups->bits == Bits;
  }
  static Layout layout(const blocks::StoredTensor& tensor) {
    const auto& groups = *tensor.groups;
    const int scale_bytes = blocks::info(groups.scale_encoding).block_bytes;
    return {.codes = true,
            .unit_inputs = groups.group_size,
            .unit_bytes = 32 * scale_bytes + groups.group_size / 32 * Codes::kBytes,
            .group = 32,
            .zero = 0,
            .mins = true,
            .code_max = (1 << Bits) - 1,
            .file_group = groups.group_size,
            .scale_encoding = groups.scale_encoding};
  }
  PACELINE_INLINE static int scale_bytes(const Layout& layout) {
    return layout.scale_encoding == blocks::Encoding::f32 ? 4 : 2;
  }

  /// A row is one little-endian stream of bits; eight codes fill exactly Bits bytes.
  static void read(const uint8_t* in, uint8_t* codes) {
    for (int pack = 0; pack < 4; ++pack) {
      uint64_t stream = 0;
      std::memcpy(&stream, in + pack * Bits, Bits);
      for (int j = 0; j < 8; ++j) {
        codes[8 * pack + j] = static_cast<uint8_t>(stream >> (Bits * j) & ((1U << Bits) - 1));
      }
    }
  }

  static void pack_unit(const Layout& layout, const PackRows& rows, int64_t unit, uint8_t* out) {
    const auto size = static_cast<std::size_t>(scale_bytes(layout));
    const auto at = static_cast<int64_t>(size);
    const int runs = layout.file_group / 32;
    alignas(64) uint8_t quads[4][8][64] = {};
    for (int lane = 0; lane < kTileOutputs; ++lane) {
      const PackRow& row = rows.lanes[lane];
      if (row.codes == nullptr) continue;
      std::memcpy(out + lane * at, row.scales + unit * at, size);
      std::memcpy(out + (16 + lane) * at, row.biases + unit * at, size);
      for (int run = 0; run < runs; ++run) {
        uint8_t codes[32];
        read(row.codes + (unit * runs + run) * 4 * Bits, codes);
        put_lane(codes, lane, quads[run]);
      }
    }
    for (int run = 0; run < runs; ++run) {
      Codes::pack(quads[run], out + 32 * at + run * Codes::kBytes);
    }
  }

  static constexpr int kGroup = 32, kZero = 0, kCodeMax = (1 << Bits) - 1;
  static constexpr bool kMins = true;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;

  PACELINE_INLINE static const uint8_t* codes(const Layout& layout, const uint8_t* chunk, int g) {
    const int runs = layout.file_group / 32;
    return chunk + g / runs * layout.unit_bytes + 32 * scale_bytes(layout) +
           g % runs * Codes::kBytes;
  }
  template <class B>
  static typename B::F scale(const Layout& layout, const uint8_t* chunk, int g) {
    return load_scales<B>(layout, chunk + g / (layout.file_group / 32) * layout.unit_bytes);
  }
  template <class B>
  static typename B::F min(const Layout& layout, const uint8_t* chunk, int g) {
    return load_scales<B>(layout, chunk + g / (layout.file_group / 32) * layout.unit_bytes +
                                      16 * scale_bytes(layout));
  }

 private:
  template <class B>
  static typename B::F load_scales(const Layout& layout, const uint8_t* in) {
    if (layout.scale_encoding == blocks::Encoding::f16) return B::load_f16(in);
    if (layout.scale_encoding == blocks::Encoding::bf16) {
      return B::V::load_bf16(reinterpret_cast<const uint16_t*>(in));
    }
    return B::V::load(reinterpret_cast<const float*>(in));
  }
};

}  // namespace paceline::kernels::packed
