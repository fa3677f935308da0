#include "blocks/decoders.h"
#include "blocks/scalar.h"

// Blocks of 32 with f16 scales: nibbles of byte j are elements j (low) and j + 16 (high).

namespace paceline::blocks {
namespace {

struct Q4_0 {
  static constexpr int kBytes = 18, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in);
    Bytes qs = in + 2;
    for (int j = 0; j < 16; ++j) out[j] = d * static_cast<float>((qs[j] & 15) - 8);
    for (int j = 0; j < 16; ++j) out[j + 16] = d * static_cast<float>((qs[j] >> 4) - 8);
  }
};

struct Q4_1 {
  static constexpr int kBytes = 20, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in), m = f16_at(in + 2);
    Bytes qs = in + 4;
    for (int j = 0; j < 16; ++j) out[j] = d * static_cast<float>(qs[j] & 15) + m;
    for (int j = 0; j < 16; ++j) out[j + 16] = d * static_cast<float>(qs[j] >> 4) + m;
  }
};

struct Q5_0 {
  static constexpr int kBytes = 22, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in);
    const uint32_t qh = load<uint32_t>(in + 2);
    Bytes qs = in + 6;
    for (int j = 0; j < 16; ++j) {
      const int low = (qs[j] & 15) | static_cast<int>((qh >> j & 1) << 4);
      const int high = (qs[j] >> 4) | static_cast<int>((qh >> (j + 16) & 1) << 4);
      out[j] = d * static_cast<float>(low - 16);
      out[j + 16] = d * static_cast<float>(high - 16);
    }
  }
};

struct Q5_1 {
  static constexpr int kBytes = 24, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in), m = f16_at(in + 2);
    const uint32_t qh = load<uint32_t>(in + 4);
    Bytes qs = in + 8;
    for (int j = 0; j < 16; ++j) {
      const int low = (qs[j] & 15) | static_cast<int>((qh >> j & 1) << 4);
      const int high = (qs[j] >> 4) | static_cast<int>((qh >> (j + 16) & 1) << 4);
      out[j] = d * static_cast<float>(low) + m;
      out[j + 16] = d * static_cast<float>(high) + m;
    }
  }
};

struct Q8_0 {
  static constexpr int kBytes = 34, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    const float d = f16_at(in);
    Bytes qs = in + 2;
    for (int j = 0; j < 32; ++j) out[j] = d * static_cast<float>(static_cast<int8_t>(qs[j]));
  }
};

}  // namespace

DecodeBlocks legacy_decoder(Encoding encoding) {
  switch (encoding) {
    case Encoding::q4_0:
      return block_decoder<Q4_0>();
    case Encoding::q4_1:
      return block_decoder<Q4_1>();
    case Encoding::q5_0:
      return block_decoder<Q5_0>();
    case Encoding::q5_1:
      return block_decoder<Q5_1>();
    case Encoding::q8_0:
      return block_decoder<Q8_0>();
    default:
      return nullptr;
  }
}

}  // namespace paceline::blocks
