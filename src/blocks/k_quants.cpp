#include "blocks/decoders.h"
#include "blocks/scalar.h"

// Super-blocks of 256 values. The order of operations is the reference's: (d * scale) * q, then -
// (dmin * min).

namespace paceline::blocks {
namespace {

struct ScaleMin {
  float scale, min;
};

/// The 6-bit scale and minimum of sub-block j (0..7), packed into 12 bytes.
[[gnu::always_inline]] inline ScaleMin scale_min(Bytes s, int j) {
  if (j < 4) return {static_cast<float>(s[j] & 63), static_cast<float>(s[j + 4] & 63)};
  return {static_cast<float>((s[j + 4] & 15) | (s[j - 4] >> 6) << 4),
          static_cast<float>((s[j + 4] >> 4) | (s[j] >> 6) << 4)};
}

struct Q4_K {
  static constexpr int kBytes = 144, kValues = 256;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in), dmin = f16_at(in + 2);
    Bytes scales = in + 4;
    for (int j = 0; j < 8; ++j) {
      const ScaleMin packed = scale_min(scales, j);
      const float scale = d * packed.scale, min = dmin * packed.min;
      Bytes qs = in + 16 + 32 * (j / 2);
      const int shift = 4 * (j & 1);
      for (int l = 0; l < 32; ++l) {
        out[32 * j + l] = scale * static_cast<float>(qs[l] >> shift & 15) - min;
      }
    }
  }
};

struct Q5_K {
  static constexpr int kBytes = 176, kValues = 256;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in), dmin = f16_at(in + 2);
    Bytes scales = in + 4;
    Bytes qh = in + 16;
    for (int j = 0; j < 8; ++j) {
      const ScaleMin packed = scale_min(scales, j);
      const float scale = d * packed.scale, min = dmin * packed.min;
      Bytes qs = in + 48 + 32 * (j / 2);
      const int shift = 4 * (j & 1);
      for (int l = 0; l < 32; ++l) {
        const int q = (qs[l] >> shift & 15) | (qh[l] >> j & 1) << 4;
        out[32 * j + l] = scale * static_cast<float>(q) - min;
      }
    }
  }
};

struct Q6_K {
  static constexpr int kBytes = 210, kValues = 256;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in + 208);
    for (int part = 0; part < 8; ++part) {  // 32 values each; four parts share 64 low bytes
      const int half = part / 4, k = part % 4;
      Bytes low = in + 64 * half + 32 * (k & 1);
      Bytes high = in + 128 + 32 * half;
      Bytes scales = in + 192 + 2 * part;
      const int low_shift = 4 * (k / 2), high_shift = 2 * k;
      const float first = d * static_cast<float>(static_cast<int8_t>(scales[0]));
      const float second = d * static_cast<float>(static_cast<int8_t>(scales[1]));
      for (int l = 0; l < 32; ++l) {
        const int q = (low[l] >> low_shift & 15) | (high[l] >> high_shift & 3) << 4;
        out[32 * part + l] = (l < 16 ? first : second) * static_cast<float>(q - 32);
      }
    }
  }
};

struct Q2_K {
  static constexpr int kBytes = 84, kValues = 256;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in + 80), dmin = f16_at(in + 82);
    for (int group = 0; group < 16; ++group) {  // 16 values each
      Bytes qs = in + 16 + 32 * (group / 8) + 16 * (group & 1);
      const int shift = 2 * (group % 8 / 2);
      const float scale = d * static_cast<float>(in[group] & 15);
      const float min = dmin * static_cast<float>(in[group] >> 4);
      for (int l = 0; l < 16; ++l) {
        out[16 * group + l] = scale * static_cast<float>(qs[l] >> shift & 3) - min;
      }
    }
  }
};

/// The 6-bit scale of group k (0..15), packed into 12 bytes.
[[gnu::always_inline]] inline int q3_scale(Bytes s, int k) {
  const int low = k < 8 ? s[k] & 15 : s[k - 8] >> 4;
  const int high = s[8 + (k & 3)] >> (2 * (k / 4)) & 3;
  return (low | high << 4) - 32;
}

struct Q3_K {
  static constexpr int kBytes = 110, kValues = 256;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in + 108);
    for (int group = 0; group < 16; ++group) {  // 16 values each
      Bytes mask = in + 16 * (group & 1);
      Bytes qs = in + 32 + 32 * (group / 8) + 16 * (group & 1);
      const int shift = 2 * (group % 8 / 2), bit = group / 2;
      const float scale = d * static_cast<float>(q3_scale(in + 96, group));
      for (int l = 0; l < 16; ++l) {
        const int q = (qs[l] >> shift & 3) - ((mask[l] >> bit & 1) ^ 1) * 4;
        out[16 * group + l] = scale * static_cast<float>(q);
      }
    }
  }
};

}  // namespace

DecodeBlocks k_decoder(Encoding encoding) {
  switch (encoding) {
    case Encoding::q2_k:
      return block_decoder<Q2_K>();
    case Encoding::q3_k:
      return block_decoder<Q3_K>();
    case Encoding::q4_k:
      return block_decoder<Q4_K>();
    case Encoding::q5_k:
      return block_decoder<Q5_K>();
    case Encoding::q6_k:
      return block_decoder<Q6_K>();
    default:
      return nullptr;
  }
}

}  // namespace paceline::blocks
