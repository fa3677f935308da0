#include "blocks/decoders.h"
#include "blocks/scalar.h"

// Blocks whose nibbles index a table of 16 values; nibbles of byte j are elements j (low) and j +
// 16 (high).

namespace paceline::blocks {
namespace {

constexpr float kIq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
// E2M1 values doubled; both zeros are +0, as in the reference.
constexpr float kFp4Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

[[gnu::always_inline]] inline void decode_32(const float (&table)[16], float scale, Bytes qs, Floats out) {
  for (int j = 0; j < 16; ++j) out[j] = scale * table[qs[j] & 15];
  for (int j = 0; j < 16; ++j) out[j + 16] = scale * table[qs[j] >> 4];
}

struct Iq4Nl {
  static constexpr int kBytes = 18, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) { decode_32(kIq4, f16_at(in), in + 2, out); }
};

struct Iq4Xs {
  static constexpr int kBytes = 136, kValues = 256;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in);
    const int scales_high = load<uint16_t>(in + 2);
    Bytes scales_low = in + 4;
    for (int b = 0; b < 8; ++b) {
      const int scale = (scales_low[b / 2] >> (4 * (b & 1)) & 15) | (scales_high >> (2 * b) & 3) << 4;
      decode_32(kIq4, d * static_cast<float>(scale - 32), in + 8 + 16 * b, out + 32 * b);
    }
  }
};

/// 2^(code - 128): half the E8M0 scale, because the table is doubled.
[[gnu::always_inline]] inline float half_e8m0(uint8_t code) {
  return std::bit_cast<float>(code < 2 ? 0x00200000u << code : static_cast<uint32_t>(code - 1) << 23);
}

struct Mxfp4 {
  static constexpr int kBytes = 17, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    decode_32(kFp4Doubled, half_e8m0(in[0]), in + 1, out);
  }
};

}  // namespace

DecodeBlocks table_decoder(Encoding encoding) {
  switch (encoding) {
    case Encoding::iq4_nl:
      return block_decoder<Iq4Nl>();
    case Encoding::iq4_xs:
      return block_decoder<Iq4Xs>();
    case Encoding::mxfp4:
      return block_decoder<Mxfp4>();
    default:
      return nullptr;
  }
}

}  // namespace paceline::blocks
