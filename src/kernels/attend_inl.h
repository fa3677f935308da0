#pragma once

#include "kernels/attend_kernel.h"
#include "kernels/math_inl.h"

namespace paceline::kernels {

template <class V>
struct AttendKernel {
  using F = typename V::F;
  static constexpr int kBlock = kAttendBlock;
  static constexpr int kQueries = V::kAttendQueries;
  static constexpr int kVectors = V::kAttendVectors;

  // --- scores
  // -------------------------------------------------------------------------------------------------

  template <int R>
  static void score_tile(const BlockArgs& a, int64_t query, int column) {
    F acc[R][kVectors];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < kVectors; ++c) acc[r][c] = V::zero();
    }
    const float* q[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) q[r] = a.queries[query + r];
    const float* key = a.keys + column;
    for (int64_t d = 0; d < a.key_dim; ++d, key += kBlock) {
      F k[kVectors];
#pragma GCC unroll 8
      for (int c = 0; c < kVectors; ++c) k[c] = V::load(key + c * 16);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const F value = V::set(q[r][d]);
#pragma GCC unroll 8
        for (int c = 0; c < kVectors; ++c) acc[r][c] = V::fma(value, k[c], acc[r][c]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      float* out = a.weights + (query + r) * kBlock + column;
#pragma GCC unroll 8
      for (int c = 0; c < kVectors; ++c) V::store(out + c * 16, acc[r][c]);
    }
  }

  template <int R>
  static void score_tail(const BlockArgs& a, int64_t query) {
    if constexpr (R > 0) {
      if (a.queries_count - query == R) {
        for (int c = 0; c < kBlock; c += kVectors * 16) score_tile<R>(a, query, c);
      } else {
        score_tail<R - 1>(a, query);
      }
    }
  }

  static void scores(const BlockArgs& a) {
    int64_t query = 0;
    for (; query + kQueries <= a.queries_count; query += kQueries) {
      for (int c = 0; c < kBlock; c += kVectors * 16) score_tile<kQueries>(a, query, c);
    }
    score_tail<kQueries - 1>(a, query);
  }

  // --- softmax of a block
  // -------------------------------------------------------------------------------------

  /// Turns scores into weights; leaves m and l in `partial`.
  static void softmax(const BlockArgs& a, float* weights, uint64_t visible, float* partial) {
    const F minus_infinity = V::set(-__builtin_inff());
    F score[4];
    F top = minus_infinity;
    for (int i = 0; i < 4; ++i) {
      F s = V::mul(V::load(weights + i * 16), V::set(a.scale));
      if (a.softcap > 0.0F) {
        s = V::mul(V::set(a.softcap), Math<V>::tanh(V::div(s, V::set(a.softcap))));
      }
      score[i] = V::select(V::lanes(static_cast<uint32_t>(visible >> (i * 16)) & 0xffffU), s,
                           minus_infinity);
      top = V::max(score[i], top);
    }
    const float m = Math<V>::largest(top);
    F sum = V::zero();
    for (int i = 0; i < 4; ++i) {
      const F p = Math<V>::exp(V::sub(score[i], V::set(m)));
      const F seen =
          V::select(V::lanes(static_cast<uint32_t>(visible >> (i * 16)) & 0xffffU), p, V::zero());
      V::store(weights + i * 16, seen);
      sum = V::add(sum, seen);
    }
    partial[0] = m;
    partial[1] = Math<V>::sum(sum);
  }

  // --- weighted values
  // ----------------------------------------------------------------------------------------

  template <int R, int C>
  static void value_tile(const BlockArgs& a, int64_t query, int64_t column, uint64_t visible) {
    F acc[R][C];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) acc[r][c] = V::zero();
    }
    const float* p = a.weights + query * kBlock;
    while (visible != 0) {
      const int first = __builtin_ctzll(visible);
      const uint64_t from = visible >> first;
      const int run = ~from == 0 ? kBlock - first : __builtin_ctzll(~from);
      const float* value = a.values + first * a.value_stride + column;
      for (int j = first; j < first + run; ++j, value += a.value_stride) {
        F v[C];
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) v[c] = V::load(value + c * 16);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          const F weight = V::set(p[r * kBlock + j]);
#pragma GCC unroll 8
          for (int c = 0; c < C; ++c) acc[r][c] = V::fma(weight, v[c], acc[r][c]);
        }
      }
      const int end = first + run;
      visible = end == kBlock ? 0 : visible >> end << end;
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      float* out = a.partial + (query + r) * a.partial_stride + 16 + column;
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) V::store(out + c * 16, acc[r][c]);
    }
  }

  template <int R>
  static void value_rows(const BlockArgs& a, int64_t query, uint64_t visible) {
    int64_t column = 0;
    for (; column + kVectors * 16 <= a.value_stride; column += kVectors * 16) {
      value_tile<R, kVectors>(a, query, column, visible);
    }
    for (; column < a.value_stride; column += 16) value_tile<R, 1>(a, query, column, visible);
  }

  template <int R>
  static void value_tail(const BlockArgs& a, int64_t query, int64_t count) {
    if constexpr (R > 0) {
      if (count == R) {
        value_rows<R>(a, query, a.visible[query]);
      } else {
        value_tail<R - 1>(a, query, count);
      }
    }
  }

  /// Queries that see the same keys share the reads of the values.
  static void weighted_values(const BlockArgs& a) {
    int64_t query = 0;
    while (query < a.queries_count) {
      const uint64_t visible = a.visible[query];
      int64_t same = 1;
      while (same < kQueries && query + same < a.queries_count &&
             a.visible[query + same] == visible) {
        ++same;
      }
      if (visible != 0) value_tail<kQueries>(a, query, same);
      query += same;
    }
  }

  static void block(const BlockArgs& a) {
    scores(a);
    for (int64_t i = 0; i < a.queries_count; ++i) {
      float* partial = a.partial + i * a.partial_stride;
      if (a.visible[i] == 0) {
        partial[0] = -__builtin_inff();
        partial[1] = 0.0F;
      } else {
        softmax(a, a.weights + i * kBlock, a.visible[i], partial);
      }
    }
    weighted_values(a);
  }

  // --- states
  // -------------------------------------------------------------------------------------------------

  static float exp1(float x) {
    float lane[16];
    V::store(lane, Math<V>::exp(V::set(x)));
    return lane[0];
  }

  static void merge(float* state, const float* partial, int64_t value_stride) {
    if (partial[0] == -__builtin_inff()) return;
    if (state[0] == -__builtin_inff()) {
      for (int64_t i = 0; i < 16 + value_stride; i += 16) V::store(state + i, V::load(partial + i));
      return;
    }
    const float m = state[0] > partial[0] ? state[0] : partial[0];
    const float old_part = exp1(state[0] - m);
    const float new_part = exp1(partial[0] - m);
    state[0] = m;
    state[1] = __builtin_fmaf(partial[1], new_part, state[1] * old_part);
    const F a = V::set(old_part);
    const F b = V::set(new_part);
    for (int64_t i = 16; i < 16 + value_stride; i += 16) {
      V::store(state + i, V::fma(V::load(partial + i), b, V::mul(V::load(state + i), a)));
    }
  }

  static void finish(const float* state, float* out, int64_t value_dim) {
    const bool nothing = state[1] == 0.0F;
    for (int64_t i = 0; i < value_dim; i += 16) {
      const int n = value_dim - i < 16 ? static_cast<int>(value_dim - i) : 16;
      const F y = nothing ? V::zero() : V::div(V::load(state + 16 + i), V::set(state[1]));
      V::store_n(out + i, y, n);
    }
  }

  // --- decoding
  // -----------------------------------------------------------------------------------------------

  static F load_row(const void* rows, KvEncoding encoding, int64_t at, int n) {
    if (encoding == KvEncoding::f32) return V::load_n(static_cast<const float*>(rows) + at, n);
    const uint16_t* p = static_cast<const uint16_t*>(rows) + at;
    if (n == 16) return V::load_bf16(p);
    uint16_t padded[16] = {};
    for (int i = 0; i < n; ++i) padded[i] = p[i];
    return V::load_bf16(padded);
  }

  static int part(int64_t left) { return left < 0 ? 0 : left < 16 ? static_cast<int>(left) : 16; }

  static void one_key(const StoredRows& s, int64_t token) {
    for (int64_t d = 0; d < s.dim; d += 16) {
      const int n = part(s.dim - d);
      float lane[16];
      V::store(lane, load_row(s.rows, s.encoding, token * s.row_stride + d, n));
      for (int i = 0; i < n; ++i) s.out[(d + i) * kBlock + token] = lane[i];
    }
  }

  /// Sixteen tokens from `token` on; those past the last repeat it.
  static void sixteen_keys(const StoredRows& s, int64_t token) {
    for (int64_t d = 0; d + 16 <= s.dim; d += 16) {
      F rows[16];
#pragma GCC unroll 16
      for (int64_t i = 0; i < 16; ++i) {
        const int64_t t = token + i < s.tokens ? token + i : s.tokens - 1;
        rows[i] = load_row(s.rows, s.encoding, t * s.row_stride + d, 16);
      }
      V::transpose(rows, s.out + d * kBlock + token, kBlock);
    }
  }

  static void keys(const StoredRows& s) {
    int64_t token = 0;
    if (s.dim % 16 == 0) {
      for (; token < s.tokens && token + 16 <= s.out_stride; token += 16) sixteen_keys(s, token);
    }
    for (; token < s.tokens; ++token) one_key(s, token);
  }

  static void values(const StoredRows& s) {
    for (int64_t t = 0; t < s.tokens; ++t) {
      for (int64_t d = 0; d < s.out_stride; d += 16) {
        V::store(s.out + t * s.out_stride + d,
                 load_row(s.rows, s.encoding, t * s.row_stride + d, part(s.dim - d)));
      }
    }
  }

  static const AttendTable& table() {
    static constexpr AttendTable kTable{&block, &merge, &finish, &keys, &values};
    return kTable;
  }
};

}  // namespace paceline::kernels
