#pragma once

#include <cstring>

#include "kernels/packed/k_quants.h"

// GGUF IQ4_XS: super-blocks whose codes index the table of IQ4.

namespace paceline::kernels::packed {

struct SourceIq4Xs : SignedScales {
  static constexpr auto kEncoding = blocks::Encoding::iq4_xs;
  static constexpr int kBytes = 136, kBits = 4, kGroup = 32, kZero = 128, kCodeMax = 255;
  static constexpr bool kMins = false, kMinBytes = false;
  static constexpr bool kLookup = true;
  static constexpr const uint8_t* kTable = kIq4Table;
  static void read(const uint8_t* in, SuperBlock& out) {
    std::memcpy(out.d, in, 2);
    const int high = in[2] | in[3] << 8;
    for (int b = 0; b < 8; ++b) {
      const int scale = (in[4 + b / 2] >> (4 * (b & 1)) & 15) | (high >> (2 * b) & 3) << 4;
      out.scales[b] = static_cast<uint8_t>(scale - 32);
      split_nibbles(in + 8 + 16 * b, out.codes + 32 * b);
    }
  }
};

}  // namespace paceline::kernels::packed
