#pragma once

#include "kernels/attend_kernel.h"
#include "kernels/math_inl.h"

namespace paceline::kernels {

template <class V>
struct AttendKernel {
  using F = typename V::F;
  static constexpr int kBlock = kAttendBlock;
  static constexpr int kLanes = kKeyLanes;
  static constexpr int kQueries = V::kAttendQueries;

  /// Elements of a state before its o. kOld and kNew are the factors of the block being merged;
  /// kOld is negative where the state has seen nothing yet.
  enum Slot { kMax, kSum, kOld, kNew, kOutput = 16 };

  // --- stored numbers
  // -----------------------------------------------------------------------------------------------

  struct F32 {
    static constexpr int64_t kBytes = 4;
    static F load(const std::byte* p) { return V::load(reinterpret_cast<const float*>(p)); }
    static F load_n(const std::byte* p, int n) {
      return V::load_n(reinterpret_cast<const float*>(p), n);
    }
  };
  struct Bf16 {
    static constexpr int64_t kBytes = 2;
    static F load(const std::byte* p) { return V::load_bf16(reinterpret_cast<const uint16_t*>(p)); }
    static F load_n(const std::byte* p, int n) {
      return V::load_bf16_n(reinterpret_cast<const uint16_t*>(p), n);
    }
  };
  struct F16 {
    static constexpr int64_t kBytes = 2;
    static F load(const std::byte* p) { return V::load_f16(reinterpret_cast<const uint16_t*>(p)); }
    static F load_n(const std::byte* p, int n) {
      return V::load_f16_n(reinterpret_cast<const uint16_t*>(p), n);
    }
  };

  // --- scores
  // -----------------------------------------------------------------------------------------------

  /// Prefetches the lines that `vectors` stored vectors from `p` on begin in.
  template <class E, int vectors>
  static void prefetch(const std::byte* p) {
#pragma GCC unroll 4
    for (int64_t at = 0; at < vectors * kLanes * E::kBytes; at += 64) V::prefetch_l2(p + at);
  }

  template <class E, int R, int C>
  static void score_tile(const BlockArgs& a, int64_t query, int group) {
    F acc[R][C];
    const float* q[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      q[r] = a.queries[query + r];
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) acc[r][c] = V::zero();
    }
    const std::byte* const* key = a.block->keys + group;
    const std::byte* const* next = a.next->keys + group;
    const auto step = [&](int64_t d) __attribute__((always_inline)) {
      F k[C];
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) k[c] = E::load(key[c] + d * kLanes * E::kBytes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const F value = V::set(q[r][d]);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) acc[r][c] = V::fma(value, k[c], acc[r][c]);
      }
    };
    int64_t d = 0;
    for (; d + 2 <= a.key_dim; d += 2) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) prefetch<E, 2>(next[c] + d * kLanes * E::kBytes);
      step(d);
      step(d + 1);
    }
    if (d < a.key_dim) step(d);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      float* out = a.weights + (query + r) * kBlock + group * kLanes;
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) V::store(out + c * kLanes, acc[r][c]);
    }
  }

  static bool any_in(uint64_t visible, int group) {
    return ((visible >> (group * kLanes)) & 0xffffU) != 0;
  }

  /// Groups of keys that no query of the tile sees are left out.
  template <class E, int R>
  static void score_rows(const BlockArgs& a, int64_t query) {
    constexpr int C = V::attend_vectors(R);
    uint64_t visible = 0;
    for (int r = 0; r < R; ++r) visible |= a.visible[query + r];
    for (int group = 0; group < kBlockGroups; group += C) {
      int seen = 0;
      for (int c = 0; c < C; ++c) seen += any_in(visible, group + c) ? 1 : 0;
      if (2 * seen > C) {
        score_tile<E, R, C>(a, query, group);
        continue;
      }
      for (int c = 0; c < C; ++c) {
        if (any_in(visible, group + c)) score_tile<E, R, 1>(a, query, group + c);
      }
    }
  }

  template <class E, int R>
  static void score_tail(const BlockArgs& a, int64_t query) {
    if constexpr (R > 0) {
      if (a.count - query == R) {
        score_rows<E, R>(a, query);
      } else {
        score_tail<E, R - 1>(a, query);
      }
    }
  }

  template <class E>
  static void scores(const BlockArgs& a) {
    int64_t query = 0;
    for (; query + kQueries <= a.count; query += kQueries) score_rows<E, kQueries>(a, query);
    score_tail<E, kQueries - 1>(a, query);
  }

  // --- softmax of a block
  // -----------------------------------------------------------------------------------------------

  /// Leaves the factors of a merge with (m, l) of what follows in the state, its m and l merged.
  static void merge_sums(float* state, float m, float l) {
    if (state[kMax] == -__builtin_inff()) {
      state[kMax] = m;
      state[kSum] = l;
      state[kOld] = -1.0F;
      return;
    }
    const bool keeps = state[kMax] > m;
    const float top = keeps ? state[kMax] : m;
    const float low = keeps ? m : state[kMax];
    const float one = 1.0F + (top - top);  // exp(top - top): NaN for an infinite maximum
    const float less = V::first(Math<V>::exp(V::set(low - top)));
    state[kOld] = keeps ? one : less;
    state[kNew] = keeps ? less : one;
    state[kMax] = top;
    state[kSum] = __builtin_fmaf(l, state[kNew], state[kSum] * state[kOld]);
  }

  /// Turns a query's scores into weights and merges their maximum and sum into its state.
  static void softmax(const BlockArgs& a, int64_t query) {
    const uint64_t visible = a.visible[query];
    float* weights = a.weights + query * kBlock;
    F score[kBlockGroups];
    F top = V::set(-__builtin_inff());
    for (int g = 0; g < kBlockGroups; ++g) {
      if (!any_in(visible, g)) continue;
      F s = V::mul(V::load(weights + g * kLanes), V::set(a.scale));
      if (a.softcap > 0.0F) {
        s = V::mul(V::set(a.softcap), Math<V>::tanh(V::div(s, V::set(a.softcap))));
      }
      score[g] = V::select(V::lanes(static_cast<uint32_t>(visible >> (g * kLanes)) & 0xffffU), s,
                           V::set(-__builtin_inff()));
      top = V::max(score[g], top);
    }
    const float m = V::largest(top);
    if (m == -__builtin_inff()) {
      a.visible[query] = 0;
      return;
    }
    F sum = V::zero();
    for (int g = 0; g < kBlockGroups; ++g) {
      if (!any_in(visible, g)) continue;
      const F p = Math<V>::exp(V::sub(score[g], V::set(m)));
      const F seen = V::select(V::lanes(static_cast<uint32_t>(visible >> (g * kLanes)) & 0xffffU),
                               p, V::zero());
      V::store(weights + g * kLanes, seen);
      sum = V::add(sum, seen);
    }
    merge_sums(a.states + query * a.state_stride, m, V::sum(sum));
  }

  // --- weighted values
  // -----------------------------------------------------------------------------------------------

  static void merge_output(const float* state, float* out, F value) {
    if (state[kOld] < 0.0F) {
      V::store(out, value);
    } else {
      V::store(out, V::fma(value, V::set(state[kNew]), V::mul(V::load(out), V::set(state[kOld]))));
    }
  }

  /// C vectors of R queries that see the same keys, from the value's element `column` on. With
  /// Part the one vector has `n` elements.
  template <class E, int R, int C, bool Part>
  static void value_tile(const BlockArgs& a, int64_t query, int64_t column, int n) {
    F acc[R][C];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) acc[r][c] = V::zero();
    }
    const int64_t stride = a.value_dim * E::kBytes;
    for (int group = 0; group < kBlockGroups; ++group) {
      uint32_t visible = static_cast<uint32_t>(a.visible[query] >> (group * kLanes)) & 0xffffU;
      while (visible != 0) {
        const int first = __builtin_ctz(visible);
        const int end = first + __builtin_ctz(~(visible >> first));
        const std::byte* value = a.block->values[group] + first * stride + column * E::kBytes;
        const std::byte* next = a.next->values[group] + first * stride + column * E::kBytes;
        const float* p = a.weights + query * kBlock + group * kLanes;
        for (int j = first; j < end; ++j, value += stride, next += stride) {
          prefetch<E, C>(next);
          F v[C];
#pragma GCC unroll 8
          for (int c = 0; c < C; ++c) {
            const std::byte* at = value + c * kLanes * E::kBytes;
            if constexpr (Part) {
              v[c] = E::load_n(at, n);
            } else {
              v[c] = E::load(at);
            }
          }
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) {
            const F weight = V::set(p[r * kBlock + j]);
#pragma GCC unroll 8
            for (int c = 0; c < C; ++c) acc[r][c] = V::fma(weight, v[c], acc[r][c]);
          }
        }
        visible = visible >> end << end;
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      float* state = a.states + (query + r) * a.state_stride;
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        merge_output(state, state + kOutput + column + c * kLanes, acc[r][c]);
      }
    }
  }

  template <class E, int R>
  static void value_rows(const BlockArgs& a, int64_t query) {
    constexpr int C = V::attend_vectors(R);
    int64_t column = 0;
    for (; column + C * kLanes <= a.value_dim; column += C * kLanes) {
      value_tile<E, R, C, false>(a, query, column, kLanes);
    }
    for (; column + kLanes <= a.value_dim; column += kLanes) {
      value_tile<E, R, 1, false>(a, query, column, kLanes);
    }
    if (column == a.value_dim) return;
    for (int r = 0; r < R; ++r) {
      value_tile<E, 1, 1, true>(a, query + r, column, static_cast<int>(a.value_dim - column));
    }
  }

  template <class E, int R>
  static void value_tail(const BlockArgs& a, int64_t query, int64_t count) {
    if constexpr (R > 0) {
      if (count == R) {
        value_rows<E, R>(a, query);
      } else {
        value_tail<E, R - 1>(a, query, count);
      }
    }
  }

  /// Queries that see the same keys share the reads of the values.
  template <class E>
  static void weighted_values(const BlockArgs& a) {
    int64_t query = 0;
    while (query < a.count) {
      const uint64_t visible = a.visible[query];
      int64_t same = 1;
      while (same < kQueries && query + same < a.count && a.visible[query + same] == visible) {
        ++same;
      }
      if (visible != 0) value_tail<E, kQueries>(a, query, same);
      query += same;
    }
  }

  template <class E>
  static void block_of(const BlockArgs& a) {
    scores<E>(a);
    for (int64_t i = 0; i < a.count; ++i) softmax(a, i);
    weighted_values<E>(a);
  }

  static void block(const BlockArgs& a) {
    switch (a.encoding) {
      case KvEncoding::f32:
        return block_of<F32>(a);
      case KvEncoding::bf16:
        return block_of<Bf16>(a);
      case KvEncoding::f16:
        return block_of<F16>(a);
    }
  }

  // --- states
  // -----------------------------------------------------------------------------------------------

  static void merge(float* state, const float* other, int64_t value_dim) {
    if (other[kMax] == -__builtin_inff()) return;
    merge_sums(state, other[kMax], other[kSum]);
    for (int64_t i = kOutput; i < kOutput + value_dim; i += kLanes) {
      merge_output(state, state + i, V::load(other + i));
    }
  }

  static void finish(const float* state, float* out, int64_t value_dim) {
    const bool nothing = state[kSum] == 0.0F;
    for (int64_t i = 0; i < value_dim; i += kLanes) {
      const int n = value_dim - i < kLanes ? static_cast<int>(value_dim - i) : kLanes;
      const F y = nothing ? V::zero() : V::div(V::load(state + kOutput + i), V::set(state[kSum]));
      V::store_n(out + i, y, n);
    }
  }

  static const AttendTable& table() {
    static constexpr AttendTable kTable{&block, &merge, &finish};
    return kTable;
  }
};

}  // namespace paceline::kernels
