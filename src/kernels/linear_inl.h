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
    for (int r = 0; r < R; ++r) {
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
      for (int c = 0; c < C; ++c) {
        weight[c] = V::load(w + c * tile_stride + k * 16);
        V::prefetch(w + c * tile_stride + k * 16 + kPrefetchFloats);
      }
      for (int r = 0; r < R; ++r) {
        const F value = V::set(x[r * a.inputs + k]);
        for (int c = 0; c < C; ++c) acc[r][c] = V::fma(value, weight[c], acc[r][c]);
      }
    }
    const bool last = b.k_end == a.inputs;
    for (int r = 0; r < R; ++r) {
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

  template <int C>
  static void columns(const LinearArgs& a, float* out, int64_t out_stride, int64_t tile) {
    constexpr int kRows = V::kPrefillRows;
    const bool one_pass = a.rows <= kRows || a.inputs == 0;
    const int64_t step = one_pass ? (a.inputs > 0 ? a.inputs : 1) : kInputBlock;
    int64_t k = 0;
    do {
      const int64_t k_end = k + step < a.inputs ? k + step : a.inputs;
      Block b{&a, out, out_stride, 0, tile, k, k_end};
      for (; b.row + kRows <= a.rows; b.row += kRows) block<kRows, C>(b);
      tail<kRows - 1, C>(b, a.rows - b.row);
      k = k_end;
    } while (k < a.inputs);
  }

  /// Runs C tiles at once while there are C, then fewer.
  template <int C>
  static int64_t some_columns(const LinearArgs& a, float* out, int64_t out_stride, int64_t tile,
                              int64_t tile_end) {
    if constexpr (C > 1) {
      if (tile_end - tile < C) return some_columns<C - 1>(a, out, out_stride, tile, tile_end);
    }
    columns<C>(a, out, out_stride, tile);
    return C;
  }

  /// `out` points at the first column of `tile`.
  static void range(const LinearArgs& a, float* out, int64_t out_stride, int64_t tile,
                    int64_t tile_end) {
    while (tile < tile_end) {
      const int64_t done = a.rows == 1
                               ? some_columns<V::kDecodeTiles>(a, out, out_stride, tile, tile_end)
                           : a.rows < V::kPrefillRows
                               ? some_columns<1>(a, out, out_stride, tile, tile_end)
                               : some_columns<V::kPrefillTiles>(a, out, out_stride, tile, tile_end);
      tile += done;
      out += done * 16;
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
