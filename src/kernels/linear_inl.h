#pragma once

#include "kernels/linear_kernel.h"
#include "kernels/math_inl.h"

namespace paceline::kernels {

/// f32 products over tiles of 16 outputs. Whatever the blocking, an output is one chain of fused
/// multiply-adds with k ascending from zero; a chain that is cut between blocks of k waits in the
/// output, unrounded.
template <class V>
struct LinearKernel {
  using F = typename V::F;
  static constexpr int64_t kInputBlock =
      384;  // weights of one register tile stay in L1 or L2 meanwhile
  static constexpr int64_t kRowBlock = 240;
  static constexpr int64_t kNearFloats = 98304;     // 384 KB
  static constexpr int64_t kPrefetchFloats = 1536;  // 6 KB ahead

  struct Block {
    const LinearArgs* args;
    float* out;  // [rows][out_stride], first column = first output of `tile`
    int64_t out_stride;
    int64_t row;
    int64_t tile;
    int64_t k_begin;
    int64_t k_end;
  };

  static int lanes(const LinearArgs& a, int64_t tile) {
    const int64_t left = a.outputs - tile * 16;
    return left < 16 ? static_cast<int>(left) : 16;
  }

  static F finish(const LinearArgs& a, F acc, int64_t row, int64_t tile, int n) {
    if (a.bias != nullptr) acc = V::add(acc, V::load_n(a.bias + tile * 16, n));
    if (a.residual == nullptr) return acc;
    return V::add(acc, V::load_n(a.residual + row * a.outputs + tile * 16, n));
  }

  template <int R, int C>
  static void block(const Block& b) {
    const LinearArgs& a = *b.args;
    F acc[R][C];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const float* from = b.out + (b.row + r) * b.out_stride + c * 16;
        acc[r][c] = b.k_begin == 0 ? V::zero() : V::load_n(from, lanes(a, b.tile + c));
      }
    }
    const float* x = a.x + b.row * a.inputs;
    const float* w = a.tiles + b.tile * a.inputs * 16;
    const int64_t tile_stride = a.inputs * 16;
    for (int64_t k = b.k_begin; k < b.k_end; ++k) {
      F weight[C];
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        weight[c] = V::load(w + c * tile_stride + k * 16);
        V::prefetch(w + c * tile_stride + k * 16 + kPrefetchFloats);
      }
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const F value = V::set(x[r * a.inputs + k]);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) acc[r][c] = V::fma(value, weight[c], acc[r][c]);
      }
    }
    const bool last = b.k_end == a.inputs;
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const int n = lanes(a, b.tile + c);
        const F y = last ? finish(a, acc[r][c], b.row + r, b.tile + c, n) : acc[r][c];
        V::store_n(b.out + (b.row + r) * b.out_stride + c * 16, y, n);
      }
    }
  }

  /// The rows left over after whole register tiles.
  template <int R, int C>
  static void tail(const Block& b, int64_t rows) {
    if constexpr (R > 0) {
      if (rows == R) {
        block<R, C>(b);
      } else {
        tail<R - 1, C>(b, rows);
      }
    }
  }

  /// Rows [row, row_end) of C tiles, k from b.k_begin to b.k_end.
  template <int C>
  static void columns(Block b, int64_t row_end) {
    constexpr int kRows = V::kPrefillRows;
    for (; b.row + kRows <= row_end; b.row += kRows) block<kRows, C>(b);
    tail<kRows - 1, C>(b, row_end - b.row);
  }

  /// C tiles at once while there are C, then fewer.
  template <int C>
  static void tiles(Block b, int64_t row_end, int64_t tile_end) {
    for (; b.tile + C <= tile_end; b.tile += C, b.out += C * 16) columns<C>(b, row_end);
    if constexpr (C > 1) {
      if (b.tile < tile_end) tiles<C - 1>(b, row_end, tile_end);
    }
  }

  /// Few rows: the weights pass once, in one stream where the rows hide the latency of a chain.
  static void few_rows(const Block& whole, int64_t tile_end) {
    if (whole.args->rows * 2 > V::kPrefillRows) {
      tiles<V::kFewRowsTiles>(whole, whole.args->rows, tile_end);
    } else {
      tiles<1>(whole, whole.args->rows, tile_end);
    }
  }

  /// Every block of k of the rows [part.row, row_end) for the tiles from part.tile on.
  static void input_blocks(Block part, int64_t row_end, int64_t tile_end) {
    const int64_t inputs = part.args->inputs;
    for (int64_t k = 0; k < inputs; k += kInputBlock) {
      part.k_begin = k;
      part.k_end = k + kInputBlock < inputs ? k + kInputBlock : inputs;
      tiles<V::kPrefillTiles>(part, row_end, tile_end);
    }
  }

  /// Tiles [tile, tile_end) of all rows; `out` points at the first column of `tile`. While x fits
  /// in L2 the weights pass once, group of tiles by group; else a block of x (rows and k) stays in
  /// L2 and meets all tiles.
  static void range(const LinearArgs& a, float* out, int64_t out_stride, int64_t tile,
                    int64_t tile_end) {
    Block part{&a, out, out_stride, 0, tile, 0, a.inputs};
    if (a.rows <= V::kPrefillRows || a.inputs == 0) {
      few_rows(part, tile_end);
    } else if (a.rows * a.inputs <= kNearFloats) {
      constexpr int64_t kGroup = V::kPrefillTiles;
      for (; part.tile < tile_end; part.tile += kGroup, part.out += kGroup * 16) {
        const int64_t group_end = part.tile + kGroup;
        input_blocks(part, a.rows, group_end < tile_end ? group_end : tile_end);
      }
    } else {
      for (; part.row < a.rows; part.row += kRowBlock) {
        const int64_t row_end = part.row + kRowBlock;
        input_blocks(part, row_end < a.rows ? row_end : a.rows, tile_end);
      }
    }
  }

  static void linear(const LinearArgs& a, int64_t tile_begin, int64_t tile_end) {
    range(a, a.out + tile_begin * 16, a.outputs, tile_begin, tile_end);
  }

  static void combine(const GatedArgs& g, int64_t tile, int64_t tile_end) {
    const LinearArgs& a = g.args;
    const int64_t stride = (tile_end - tile) * 16;
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t t = tile; t < tile_end; ++t) {
        const int n = lanes(a, t);
        float* out = a.out + row * a.outputs + t * 16;
        const F gate = V::load_n(out, n);
        const F up = V::load_n(g.scratch + row * stride + (t - tile) * 16, n);
        const F act = g.gelu ? Math<V>::gelu_tanh(gate) : Math<V>::silu(gate);
        V::store_n(out, V::mul(act, up), n);
      }
    }
  }

  static void gated(const GatedArgs& g, int64_t tile_begin, int64_t tile_end) {
    LinearArgs up = g.args;
    up.tiles = g.up_tiles;
    up.bias = g.up_bias;
    range(g.args, g.args.out + tile_begin * 16, g.args.outputs, tile_begin, tile_end);
    range(up, g.scratch, (tile_end - tile_begin) * 16, tile_begin, tile_end);
    combine(g, tile_begin, tile_end);
  }

  static const LinearTable& table() {
    static constexpr LinearTable kTable{&linear, &gated};
    return kTable;
  }
};

}  // namespace paceline::kernels
