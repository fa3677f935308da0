#pragma once

#include "kernels/packed/bytes_generic.h"
#include "kernels/packed/dot.h"

namespace paceline::kernels::packed {

/// Products of a chunk with rows of codes in plain C++. Contract: packed::DotArgs.
struct DotGeneric : BytesGeneric {
  static constexpr int kRowSteps[] = {1};

  template <int R, class C>
  static void dot(const DotArgs& a, const C& chunk) {
    static_assert(R == 1);
    constexpr int kQuads = 8 / C::kSubs;
    F acc = V::load(a.acc);
    for (int group = 0; group < a.groups * C::kSubs; ++group) {
      const int g = group / C::kSubs;
      const int first = group % C::kSubs * kQuads;
      int32_t sum[16];
      for (int n = 0; n < 16; ++n) sum[n] = a.sums[group * a.stride] * -chunk.zero();
      for (int q = first; q < first + kQuads; ++q) {
        const Bytes w = chunk.quad(g, q);
        const int8_t* x = a.codes + g * a.stride * 32 + q * 4;
        for (int n = 0; n < 16; ++n) {
          for (int i = 0; i < 4; ++i) sum[n] += w.v[n * 4 + i] * x[i];
        }
      }
      const F both = V::mul(chunk.scale(group), V::set(a.scales[g * a.stride]));
      acc = V::fma(lanes([&](int n) { return sum[n]; }), both, acc);
      if constexpr (C::kMins) {
        acc = V::fma(chunk.min(group), V::set(a.scaled_sums[group * a.stride]), acc);
      }
    }
    V::store(a.acc, acc);
  }
};

}  // namespace paceline::kernels::packed
