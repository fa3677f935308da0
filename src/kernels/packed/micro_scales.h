#pragma once

#include <cstring>

#include "kernels/packed/layout.h"
#include "kernels/packed/legacy.h"
#include "kernels/packed/planes_inl.h"

// Blocks of 4-bit floats (E2M1) with one byte of scale: MXFP4 of GGUF and of MLX, NVFP4 of MLX.
// Twice an E2M1 value is an integer, so w = (scale / 2) * (code - 16).

namespace paceline::kernels::packed {

/// Twice the E2M1 values, + 16; both zeros are 16.
inline constexpr uint8_t kFp4Table[16] = {16, 17, 18, 19, 20, 22, 24, 28,
                                          16, 15, 14, 13, 12, 10, 8,  4};

/// A unit: scales [128 / group][16], codes [4].
template <class Source>
struct MicroScales {
  using Codes = Planes<4>;
  static constexpr int kUnitInputs = Source::kGroup == 32 ? 128 : 64;
  static constexpr int kRuns = kUnitInputs / 32;
  static constexpr int kScales = kUnitInputs / Source::kGroup;
  static constexpr int kScaleBytes = kScales * 16;
  static constexpr int kUnitBytes = kScaleBytes + kRuns * Codes::kBytes;

  static bool takes(const blocks::StoredTensor& tensor) {
    return tensor.encoding == Source::kEncoding;
  }
  static Layout layout(const blocks::StoredTensor&) {
    return {.codes = true,
            .unit_inputs = kUnitInputs,
            .unit_bytes = kUnitBytes,
            .group = Source::kGroup,
            .zero = 16,
            .mins = false,
            .code_max = 28};
  }

  static void pack_unit(const Layout&, const PackRows& rows, int64_t unit, uint8_t* out) {
    for (int run = 0; run < kRuns; ++run) {
      const int64_t block = unit * kRuns + run;
      if (block * 32 >= rows.inputs) return;
      alignas(64) uint8_t quads[8][64] = {};
      for (int lane = 0; lane < kTileOutputs; ++lane) {
        if (rows.lanes[lane].codes == nullptr) continue;
        constexpr int kPerRun = 32 / Source::kGroup;
        uint8_t scales[kPerRun];
        uint8_t codes[32];
        Source::read(rows.lanes[lane], block, scales, codes);
        for (int s = 0; s < kPerRun; ++s) out[(run * kPerRun + s) * 16 + lane] = scales[s];
        put_lane(codes, lane, quads);
      }
      Codes::pack(quads, out + kScaleBytes + run * Codes::kBytes);
    }
  }

  static constexpr int kGroup = Source::kGroup, kZero = 16, kCodeMax = 28;
  static constexpr bool kMins = false;
  static constexpr bool kLookup = true;
  static constexpr const uint8_t* kTable = kFp4Table;

  PACELINE_INLINE static const uint8_t* codes(const Layout&, const uint8_t* chunk, int g) {
    return chunk + g / kRuns * kUnitBytes + kScaleBytes + g % kRuns * Codes::kBytes;
  }
  template <class B>
  static typename B::F scale(const Layout&, const uint8_t* chunk, int group) {
    return Source::template scale<B>(chunk + group / kScales * kUnitBytes + group % kScales * 16);
  }
};

struct SourceMxfp4 {
  static constexpr auto kEncoding = blocks::Encoding::mxfp4;
  static constexpr int kGroup = 32;
  static void read(const PackRow& row, int64_t block, uint8_t* scales, uint8_t* codes) {
    const uint8_t* in = row.codes + block * 17;
    scales[0] = in[0];
    split_nibbles(in + 1, codes);
  }
  template <class B>
  static auto scale(const uint8_t* in) {
    return B::load_half_e8m0(in);
  }
};

/// MLX: nibbles of byte j are elements 2j (low) and 2j + 1 (high).
inline void split_neighbours(const uint8_t* in, uint8_t* codes) {
  for (int j = 0; j < 16; ++j) {
    codes[2 * j] = in[j] & 15;
    codes[2 * j + 1] = in[j] >> 4;
  }
}

struct SourceMlxMxfp4 {
  static constexpr auto kEncoding = blocks::Encoding::mlx_mxfp4;
  static constexpr int kGroup = 32;
  static void read(const PackRow& row, int64_t block, uint8_t* scales, uint8_t* codes) {
    scales[0] = row.scales[block];
    split_neighbours(row.codes + block * 16, codes);
  }
  template <class B>
  static auto scale(const uint8_t* in) {
    return B::V::mul(B::load_e8m0(in), B::V::set(0.5F));
  }
};

struct SourceMlxNvfp4 {
  static constexpr auto kEncoding = blocks::Encoding::mlx_nvfp4;
  static constexpr int kGroup = 16;
  static void read(const PackRow& row, int64_t block, uint8_t* scales, uint8_t* codes) {
    std::memcpy(scales, row.scales + block * 2, 2);
    split_neighbours(row.codes + block * 16, codes);
  }
  template <class B>
  static auto scale(const uint8_t* in) {
    return B::V::mul(B::load_e4m3(in), B::V::set(0.5F));
  }
};

}  // namespace paceline::kernels::packed
