#pragma once

#include <cstdint>

#include "kernels/packed/layout.h"

namespace paceline::kernels::packed {

/// Rows of activations as codes in groups of 32: x ~ scale * code.
///   amax = max |x| of the group; scale = amax / 127; code = round to even (x * (127 / amax)).
/// amax < 2^-100 counts as zero (codes and scale 0); a group with an infinity or a NaN has scale
/// NaN and codes 0, so everything that reads it becomes NaN.
struct Panel {
  int8_t* codes = nullptr;     ///< [inputs / 32][stride][32]
  float* scales = nullptr;     ///< [inputs / 32][stride]
  int32_t* sums[2] = {};       ///< of codes: [inputs / 32][stride] and [inputs / 16][stride]
  float* scaled_sums[2] = {};  ///< scale * sum, same shapes
  int64_t rows = 0;
  int64_t stride = 0;  ///< rows, and zeros up to what the kernels take at once
};

/// A chunk of one tile times rows of a panel. Per output and group, in this order:
///   i = sum of x code * (w code - zero), exact;  acc = fma(float(i), w scale * x scale, acc);
///   with mins: acc = fma(min, x scaled sum, acc).
/// A group of 16 takes half of the 32 codes that share an x scale.
struct DotArgs {
  int groups;           ///< of 32 inputs, 1..8
  const int8_t* codes;  ///< first group, first row
  const float* scales;
  const int32_t* sums;  ///< of the layout's groups
  const float* scaled_sums;
  int64_t stride;  ///< the panel's
  bool first;      ///< the chunk's first rows: they ask for the memory ahead
  float* acc;      ///< [rows][16], in and out
};

/// The part of a panel that a chunk of a layout meets from input `k` (a multiple of 256) on.
PACELINE_INLINE DotArgs dot_args(const Layout& layout, const Panel& panel, int64_t row, int64_t k) {
  const int subs = 32 / layout.group;
  const int64_t group = k / 32;
  return {.groups = 0,
          .codes = panel.codes + (group * panel.stride + row) * 32,
          .scales = panel.scales + group * panel.stride + row,
          .sums = panel.sums[subs - 1] + group * subs * panel.stride + row,
          .scaled_sums = panel.scaled_sums[subs - 1] + group * subs * panel.stride + row,
          .stride = panel.stride,
          .first = true,
          .acc = nullptr};
}

/// A chunk of a format of codes as the byte operations B read it.
template <class B, class Format>
struct Chunk {
  static constexpr int kSubs = 32 / Format::kGroup;
  static constexpr bool kMins = Format::kMins;
  static constexpr int kCodeMax = Format::kCodeMax;
  const Layout& layout;
  const uint8_t* chunk;
  int64_t share;  ///< an eighth of a chunk's bytes

  PACELINE_INLINE Chunk(const Layout& l, const uint8_t* c)
      : layout(l), chunk(c), share(l.chunk_bytes / 8) {}
  PACELINE_INLINE int zero() const { return Format::kZero; }
  PACELINE_INLINE typename B::Bytes quad(int g, int q) const {
    const auto codes = Format::Codes::template quad<B>(Format::codes(layout, chunk, g), q);
    if constexpr (Format::kLookup) {  // with -fsanitize GCC 12 takes no comparison of kTable
      return B::lookup(Format::kTable, codes);
    } else {
      return codes;
    }
  }
  PACELINE_INLINE typename B::F scale(int group) const {
    return Format::template scale<B>(layout, chunk, group);
  }
  PACELINE_INLINE typename B::F min(int group) const {
    return Format::template min<B>(layout, chunk, group);
  }
  /// Asks for the memory that is due some groups later.
  PACELINE_INLINE void prefetch(int g) const {
    const uint8_t* const ahead = chunk + B::kPrefetchBytes + g * share;
#pragma GCC unroll 9
    for (int line = 0; line <= Format::Codes::kBytes / 64; ++line) B::prefetch(ahead + line * 64);
  }
};

/// The same for the rows after `rows`.
PACELINE_INLINE void skip_rows(DotArgs& a, int rows) {
  a.first = false;
  a.codes += rows * 32;
  a.scales += rows;
  a.sums += rows;
  a.scaled_sums += rows;
  a.acc += rows * kTileOutputs;
}

}  // namespace paceline::kernels::packed
