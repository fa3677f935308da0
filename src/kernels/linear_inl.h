#pragma once

#include "kernels/linear_kernel.h"
#include "kernels/math_inl.h"
#include "kernels/tiles_inl.h"

namespace paceline::kernels {

/// Products over tiles of 16 outputs: sums of a block of rows x a few tiles collect in `acc`
/// [tiles][rows][16] over chunks of 256 inputs, unrounded; then bias, residual or activation.
/// Whatever the blocking, an output has one order of operations: a chain of fused multiply-adds
/// with k ascending (floats), or the order of packed::DotArgs (codes).
template <class B>
struct LinearKernel {
  using V = typename B::V;
  using F = typename V::F;
  using T = Tiles<B>;
  static constexpr int kTilesMax = V::kPrefillTiles;
  static constexpr int64_t kRowBlock = 256;

  // --- floats

  struct FloatBlock {
    const float* x;  ///< first row, first input of the chunk
    int64_t x_stride;
    const float* w[kTilesMax];  ///< [count][16]
    int count;
    float* acc;          ///< first row
    int64_t acc_stride;  ///< floats between tiles
  };

  template <int R, int C>
  static void float_block(const FloatBlock& b) {
    F acc[R][C];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) acc[r][c] = V::load(b.acc + c * b.acc_stride + r * 16);
    }
    for (int k = 0; k < b.count; ++k) {
      F weight[C];
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) weight[c] = V::load(b.w[c] + k * 16);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const F value = V::set(b.x[r * b.x_stride + k]);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) acc[r][c] = V::fma(value, weight[c], acc[r][c]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) V::store(b.acc + c * b.acc_stride + r * 16, acc[r][c]);
    }
  }

  template <int R, int C>
  static void float_tail(const FloatBlock& b, int64_t rows) {
    if constexpr (R > 0) {
      if (rows == R) {
        float_block<R, C>(b);
      } else {
        float_tail<R - 1, C>(b, rows);
      }
    }
  }

  template <int C>
  static void float_rows(FloatBlock b, int64_t rows) {
    constexpr int kRows = V::kPrefillRows;
    for (; rows >= kRows; rows -= kRows) {
      float_block<kRows, C>(b);
      b.x += kRows * b.x_stride;
      b.acc += kRows * 16;
    }
    float_tail<kRows - 1, C>(b, rows);
  }

  template <int C>
  static void float_columns(const FloatBlock& b, int64_t rows, int tiles) {
    if constexpr (C > 1) {
      if (tiles < C) return float_columns<C - 1>(b, rows, tiles);
    }
    float_rows<C>(b, rows);
  }

  static void float_sums(const LinearArgs& a, int64_t tile, int tiles, int64_t row, int64_t rows,
                         float* acc) {
    alignas(64) float scratch[kTilesMax][packed::kChunkInputs * 16];
    int64_t offset = 0;
    for (int64_t k = 0; k < a.inputs; k += packed::kChunkInputs) {
      FloatBlock b{a.x + row * a.inputs + k,     a.inputs, {},
                   T::chunk_inputs(a.inputs, k), acc,      rows * 16};
      for (int c = 0; c < tiles; ++c) {
        const uint8_t* chunk = a.tiles + weight_tile(a, tile + c) * a.tile_bytes + offset;
        b.w[c] = T::floats(*a.layout, chunk, b.count, scratch[c]);
      }
      float_columns<kTilesMax>(b, rows, tiles);
      offset += a.layout->chunk_bytes;
    }
  }

  // --- codes

  static constexpr int kSteps = sizeof(B::kRowSteps) / sizeof(int);
  static constexpr int kRowsMax = B::kRowSteps[kSteps - 1];

  /// Rows up to what the kernels take at once.
  static int64_t padded_rows(int64_t rows) {
    const int64_t whole = rows / kRowsMax * kRowsMax;
    for (const int step : B::kRowSteps) {
      if (rows - whole == 0) break;
      if (rows - whole <= step) return whole + step;
    }
    return whole;
  }

  template <class C, int Step = 0>
  static void dot_step(const packed::DotArgs& d, const C& chunk, int64_t rows) {
    if constexpr (Step < kSteps) {
      if (rows <= B::kRowSteps[Step]) {
        B::template dot<B::kRowSteps[Step]>(d, chunk);
      } else {
        dot_step<C, Step + 1>(d, chunk, rows);
      }
    }
  }

  /// Packed codes are read again for every kRowsMax rows: from the first cache, and taking them
  /// apart costs less than storing them unpacked.
  template <class Format>
  static void dot_chunk(packed::DotArgs d, const packed::Layout& layout, const uint8_t* at,
                        int64_t rows) {
    const packed::Chunk<B, Format> chunk(layout, at);
    for (; rows > kRowsMax; rows -= kRowsMax) {
      B::template dot<kRowsMax>(d, chunk);
      packed::skip_rows(d, kRowsMax);
    }
    dot_step(d, chunk, rows);
  }

  template <class... Formats>
  static auto dot_chunk_of(int format, packed::List<Formats...>) {
    using Function = void (*)(packed::DotArgs, const packed::Layout&, const uint8_t*, int64_t);
    static constexpr Function kAll[] = {&dot_chunk<Formats>...};
    return kAll[format];
  }

  static void code_sums(const LinearArgs& a, int64_t tile, int64_t row, int64_t rows, float* acc) {
    const packed::Layout& layout = *a.layout;
    const auto dot = dot_chunk_of(layout.format, packed::CodeFormats{});
    const uint8_t* chunk = a.tiles + weight_tile(a, tile) * a.tile_bytes;
    for (int64_t k = 0; k < a.inputs; k += packed::kChunkInputs, chunk += layout.chunk_bytes) {
      packed::DotArgs d = packed::dot_args(layout, *a.panel, row, k);
      d.groups = T::chunk_inputs(a.inputs, k) / 32;
      d.acc = acc;
      dot(d, layout, chunk, rows);
    }
  }

  // --- a block of rows x tiles

  static int64_t weight_tile(const LinearArgs& a, int64_t tile) {
    return a.chosen == nullptr ? tile : a.chosen[tile];
  }
  static int lanes(const LinearArgs& a, int64_t tile) {
    const int64_t left = a.outputs - weight_tile(a, tile) * 16;
    return left < 16 ? static_cast<int>(left) : 16;
  }
  static bool by_codes(const LinearArgs& a) { return a.panel != nullptr && a.layout->codes; }

  /// acc [tiles][rows][16] = products of rows [row, row + rows) with `tiles` tiles. Codes: one
  /// tile, and what acc has behind its rows is lost.
  static void sums(const LinearArgs& a, int64_t tile, int tiles, int64_t row, int64_t rows,
                   float* acc) {
    const int64_t cleared = by_codes(a) ? padded_rows(rows) : tiles * rows;
    for (int64_t i = 0; i < cleared; ++i) V::store(acc + i * 16, V::zero());
    if (by_codes(a)) {
      code_sums(a, tile, row, rows, acc);
    } else {
      float_sums(a, tile, tiles, row, rows, acc);
    }
  }

  static F with_bias(const LinearArgs& a, F y, int64_t tile, int n) {
    return a.bias == nullptr ? y : V::add(y, V::load_n(a.bias + weight_tile(a, tile) * 16, n));
  }

  static void finish(const LinearArgs& a, const float* acc, int64_t tile, int64_t row,
                     int64_t rows) {
    const int n = lanes(a, tile);
    for (int64_t r = 0; r < rows; ++r) {
      F y = with_bias(a, V::load(acc + r * 16), tile, n);
      const int64_t at = (row + r) * a.out_stride + tile * 16;
      if (a.residual != nullptr) y = V::add(y, V::load_n(a.residual + at, n));
      V::store_n(a.out + at, y, n);
    }
  }

  static void combine(const GatedArgs& g, const float* gates, const float* ups, int64_t tile,
                      int64_t row, int64_t rows) {
    const LinearArgs& a = g.args;
    const int n = lanes(a, tile);
    for (int64_t r = 0; r < rows; ++r) {
      const F gate = with_bias(a, V::load(gates + r * 16), tile, n);
      F up = V::load(ups + r * 16);
      if (g.up_bias != nullptr) up = V::add(up, V::load_n(g.up_bias + tile * 16, n));
      const F act = g.gelu ? Math<V>::gelu_tanh(gate) : Math<V>::silu(gate);
      V::store_n(a.out + (row + r) * a.out_stride + tile * 16, V::mul(act, up), n);
    }
  }

  /// Rows whose activations stay near while the tiles of a range pass.
  static int64_t row_block(const LinearArgs& a) {
    const int64_t near = (by_codes(a) ? 524288 : 131072) / (a.inputs + 1) / 8 * 8;
    const int64_t least = by_codes(a) ? 64 : 48;
    return near < least ? least : near < kRowBlock ? near : kRowBlock;
  }

  /// body(tile, tiles, row, rows) for every block of rows and group of tiles.
  template <class Body>
  static void blocks(const LinearArgs& a, int64_t tile_begin, int64_t tile_end, bool single,
                     Body body) {
    const int64_t step = row_block(a);
    const int group = single || by_codes(a) ? 1 : kTilesMax;
    for (int64_t row = 0; row < a.rows; row += step) {
      const int64_t rows = a.rows - row < step ? a.rows - row : step;
      for (int64_t tile = tile_begin; tile < tile_end; tile += group) {
        const int64_t left = tile_end - tile;
        body(tile, left < group ? static_cast<int>(left) : group, row, rows);
      }
    }
  }

  static void linear(const LinearArgs& a, int64_t tile_begin, int64_t tile_end) {
    alignas(64) float acc[kTilesMax * kRowBlock * 16];
    blocks(a, tile_begin, tile_end, false, [&](int64_t tile, int tiles, int64_t row, int64_t rows) {
      sums(a, tile, tiles, row, rows, acc);
      for (int c = 0; c < tiles; ++c) finish(a, acc + c * rows * 16, tile + c, row, rows);
    });
  }

  static void gated(const GatedArgs& g, int64_t tile_begin, int64_t tile_end) {
    alignas(64) float gates[kTilesMax * kRowBlock * 16];
    alignas(64) float ups[kTilesMax * kRowBlock * 16];
    LinearArgs up = g.args;
    up.layout = g.up_layout;
    up.tiles = g.up_tiles;
    up.tile_bytes = g.up_tile_bytes;
    blocks(g.args, tile_begin, tile_end, by_codes(up),
           [&](int64_t tile, int tiles, int64_t row, int64_t rows) {
             sums(g.args, tile, tiles, row, rows, gates);
             sums(up, tile, tiles, row, rows, ups);
             for (int c = 0; c < tiles; ++c) {
               const int64_t at = c * rows * 16;
               combine(g, gates + at, ups + at, tile + c, row, rows);
             }
           });
  }

  static const LinearTable& table() {
    static constexpr LinearTable kTable{&linear, &gated, &T::quantize, &padded_rows, &T::row};
    return kTable;
  }
};

}  // namespace paceline::kernels
