#pragma once

#include "kernels/linear_kernel.h"
#include "kernels/packed/list.h"

namespace paceline::kernels {

/// Chunks of tiles as codes or as floats, for the byte operations B of one instruction set.
template <class B>
struct Tiles {
  using V = typename B::V;
  using F = typename V::F;
  using Layout = packed::Layout;

  /// Weights of `inputs` inputs of a chunk as floats [inputs][16], one rounding each: w = scale *
  /// float(code - zero) [+ min]: what blocks::decode_rows computes.
  template <class Format>
  static void code_floats(const Layout& layout, const uint8_t* chunk, int inputs, float* out) {
    using From = packed::Chunk<B, Format>;
    const From from(layout, chunk);
    constexpr int kQuads = 8 / From::kSubs;
    for (int group = 0; group * Format::kGroup < inputs; ++group) {
      const int g = group / From::kSubs;
      const int first = group % From::kSubs * kQuads;
      if (first == 0) from.prefetch(g);
      const F scale = from.scale(group);
      F min{};
      if constexpr (From::kMins) min = from.min(group);
#pragma GCC unroll 8
      for (int q = 0; q < kQuads; ++q, out += 64) {
        const auto codes = from.quad(g, first + q);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          const F w = V::mul(scale, B::quad_floats(codes, i, from.zero()));
          V::store(out + i * 16, From::kMins ? V::add(w, min) : w);
        }
      }
    }
  }

  using Floats = void (*)(const Layout&, const uint8_t*, int, float*);
  template <class... Formats>
  static Floats code_floats_of(int format, packed::List<Formats...>) {
    static constexpr Floats kAll[] = {&code_floats<Formats>...};
    return kAll[format];
  }
  template <class... Formats>
  static Floats plain_floats_of(int format, packed::List<Formats...>) {
    static constexpr Floats kAll[] = {&Formats::template unpack<B>...};
    return kAll[format];
  }

  /// A chunk as floats [inputs][16], in `scratch` or in place.
  static const float* floats(const Layout& layout, const uint8_t* chunk, int inputs,
                             float* scratch) {
    if (!layout.codes && layout.format == 0) return reinterpret_cast<const float*>(chunk);
    const Floats decode = layout.codes ? code_floats_of(layout.format, packed::CodeFormats{})
                                       : plain_floats_of(layout.format, packed::FloatFormats{});
    decode(layout, chunk, inputs, scratch);
    return scratch;
  }

  static int chunk_inputs(int64_t inputs, int64_t k) {
    const int64_t left = inputs - k;
    return left < packed::kChunkInputs ? static_cast<int>(left) : packed::kChunkInputs;
  }

  static void row(const Layout& layout, const uint8_t* tile, int lane, int64_t inputs, float scale,
                  float* out) {
    alignas(64) float scratch[packed::kChunkInputs * 16];
    for (int64_t k = 0; k < inputs; k += packed::kChunkInputs, tile += layout.chunk_bytes) {
      const int count = chunk_inputs(inputs, k);
      const float* values = floats(layout, tile, count, scratch);
      for (int i = 0; i < count; ++i) out[k + i] = values[i * 16 + lane] * scale;
    }
  }

  /// Contract: packed::Panel.
  static void quantize(const float* x, int64_t inputs, const packed::Panel& panel,
                       int64_t group_begin, int64_t group_end) {
    constexpr int64_t kRowsAtOnce = 16;  // as many streams of x as the cache follows
    for (int64_t row = 0; row < panel.stride; row += kRowsAtOnce) {
      const int64_t end = row + kRowsAtOnce < panel.stride ? row + kRowsAtOnce : panel.stride;
      for (int64_t g = group_begin; g < group_end; ++g) {
        for (int64_t r = row; r < end; ++r) {
          if (r < panel.rows) {
            quantize_group(x + r * inputs + g * 32, panel, g, r);
          } else {
            put_zeros(panel, g, r, 0.0F);
          }
        }
      }
    }
  }

 private:
  static void quantize_group(const float* x, const packed::Panel& panel, int64_t g, int64_t r) {
    constexpr uint32_t kInfinity = 0x7f800000U;
    constexpr uint32_t kTiny = (127U - 100U) << 23;
    const uint32_t bits = B::greatest_bits(x);
    if (bits >= kInfinity || bits < kTiny) {
      put_zeros(panel, g, r, bits >= kInfinity ? __builtin_nanf("") : 0.0F);
      return;
    }
    float greatest;
    __builtin_memcpy(&greatest, &bits, 4);
    Sums sums;
    B::round_codes(x, 127.0F / greatest, panel.codes + (g * panel.stride + r) * 32, sums.half);
    put_sums(panel, g, r, greatest / 127.0F, sums);
  }

  struct Sums {
    int32_t half[2] = {0, 0};
  };
  /// A group whose codes are zero.
  static void put_zeros(const packed::Panel& panel, int64_t g, int64_t r, float scale) {
    __builtin_memset(panel.codes + (g * panel.stride + r) * 32, 0, 32);
    put_sums(panel, g, r, scale, {});
  }
  static void put_sums(const packed::Panel& panel, int64_t g, int64_t r, float scale,
                       const Sums& sums) {
    panel.scales[g * panel.stride + r] = scale;
    put_sum(panel, 0, g * panel.stride + r, sums.half[0] + sums.half[1], scale);
    put_sum(panel, 1, 2 * g * panel.stride + r, sums.half[0], scale);
    put_sum(panel, 1, (2 * g + 1) * panel.stride + r, sums.half[1], scale);
  }
  static void put_sum(const packed::Panel& panel, int which, int64_t at, int32_t sum, float scale) {
    panel.sums[which][at] = sum;
    panel.scaled_sums[which][at] = scale * static_cast<float>(sum);
  }
};

}  // namespace paceline::kernels
