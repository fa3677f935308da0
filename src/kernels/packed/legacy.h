#pragma once

#include <cstring>

#include "kernels/packed/layout.h"
#include "kernels/packed/planes_inl.h"

// GGUF blocks of 32 values with f16 scales: w = d * (code - zero) [+ m].

namespace paceline::kernels::packed {

/// Nibbles of byte j of a block are elements j (low) and j + 16 (high).
inline void split_nibbles(const uint8_t* in, uint8_t* codes) {
  for (int j = 0; j < 16; ++j) {
    codes[j] = in[j] & 15;
    codes[j + 16] = in[j] >> 4;
  }
}

/// Adds bit j of `bits` as bit 4 of code j.
inline void add_fifth_bits(const uint8_t* bits, uint8_t* codes) {
  for (int j = 0; j < 32; ++j) {
    codes[j] = static_cast<uint8_t>(codes[j] | (bits[j / 8] >> (j % 8) & 1) << 4);
  }
}

/// A unit is two groups: d f16 [2][16], m f16 [2][16] where there is one, codes [2].
/// Source::kBytes: of a file's block, whose first bytes are d (and m); Source::read: its codes.
template <class Source>
struct Legacy {
  using Codes = Planes<Source::kBits>;
  static constexpr int kUnitInputs = 64;
  static constexpr int kScaleBytes = Source::kMins ? 128 : 64;
  static constexpr int kUnitBytes = kScaleBytes + 2 * Codes::kBytes;

  static bool takes(const blocks::StoredTensor& tensor) {
    return tensor.encoding == Source::kEncoding;
  }
  static Layout layout(const blocks::StoredTensor&) {
    return {.codes = true,
            .unit_inputs = kUnitInputs,
            .unit_bytes = kUnitBytes,
            .group = 32,
            .zero = Source::kZero,
            .mins = Source::kMins,
            .code_max = Source::kCodeMax};
  }

  static void pack_unit(const Layout&, const PackRows& rows, int64_t unit, uint8_t* out) {
    for (int half = 0; half < 2; ++half) {
      const int64_t block = unit * 2 + half;
      if (block * 32 >= rows.inputs) return;
      alignas(64) uint8_t quads[8][64] = {};
      for (int lane = 0; lane < kTileOutputs; ++lane) {
        if (rows.lanes[lane].codes == nullptr) continue;
        const uint8_t* in = rows.lanes[lane].codes + block * Source::kBytes;
        uint8_t codes[32];
        Source::read(in, codes);
        put_lane(codes, lane, quads);
        std::memcpy(out + half * 32 + lane * 2, in, 2);
        if (Source::kMins) std::memcpy(out + 64 + half * 32 + lane * 2, in + 2, 2);
      }
      Codes::pack(quads, out + kScaleBytes + half * Codes::kBytes);
    }
  }

  static constexpr int kGroup = 32, kZero = Source::kZero, kCodeMax = Source::kCodeMax;
  static constexpr bool kMins = Source::kMins;
  static constexpr bool kLookup = Source::kLookup;
  static constexpr const uint8_t* kTable = Source::kTable;

  PACELINE_INLINE static const uint8_t* codes(const Layout&, const uint8_t* chunk, int g) {
    return chunk + g / 2 * kUnitBytes + kScaleBytes + g % 2 * Codes::kBytes;
  }
  template <class B>
  static typename B::F scale(const Layout&, const uint8_t* chunk, int g) {
    return B::load_f16(chunk + g / 2 * kUnitBytes + g % 2 * 32);
  }
  template <class B>
  static typename B::F min(const Layout&, const uint8_t* chunk, int g) {
    return B::load_f16(chunk + g / 2 * kUnitBytes + 64 + g % 2 * 32);
  }
};

struct SourceQ4_0 {
  static constexpr auto kEncoding = blocks::Encoding::q4_0;
  static constexpr int kBytes = 18, kBits = 4, kZero = 8, kCodeMax = 15;
  static constexpr bool kMins = false;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, uint8_t* codes) { split_nibbles(in + 2, codes); }
};

struct SourceQ4_1 {
  static constexpr auto kEncoding = blocks::Encoding::q4_1;
  static constexpr int kBytes = 20, kBits = 4, kZero = 0, kCodeMax = 15;
  static constexpr bool kMins = true;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, uint8_t* codes) { split_nibbles(in + 4, codes); }
};

struct SourceQ5_0 {
  static constexpr auto kEncoding = blocks::Encoding::q5_0;
  static constexpr int kBytes = 22, kBits = 5, kZero = 16, kCodeMax = 31;
  static constexpr bool kMins = false;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, uint8_t* codes) {
    split_nibbles(in + 6, codes);
    add_fifth_bits(in + 2, codes);
  }
};

struct SourceQ5_1 {
  static constexpr auto kEncoding = blocks::Encoding::q5_1;
  static constexpr int kBytes = 24, kBits = 5, kZero = 0, kCodeMax = 31;
  static constexpr bool kMins = true;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, uint8_t* codes) {
    split_nibbles(in + 8, codes);
    add_fifth_bits(in + 4, codes);
  }
};

struct SourceQ8_0 {
  static constexpr auto kEncoding = blocks::Encoding::q8_0;
  static constexpr int kBytes = 34, kBits = 8, kZero = 128, kCodeMax = 255;
  static constexpr bool kMins = false;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, uint8_t* codes) {
    for (int j = 0; j < 32; ++j) codes[j] = in[2 + j] ^ 0x80;
  }
};

/// The values of IQ4 codes, + 128.
inline constexpr uint8_t kIq4Table[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                          129, 141, 153, 166, 181, 197, 217, 241};

struct SourceIq4Nl {
  static constexpr auto kEncoding = blocks::Encoding::iq4_nl;
  static constexpr int kBytes = 18, kBits = 4, kZero = 128, kCodeMax = 255;
  static constexpr bool kMins = false;
  static constexpr bool kLookup = true;
  static constexpr const uint8_t* kTable = kIq4Table;
  static void read(const uint8_t* in, uint8_t* codes) { split_nibbles(in + 2, codes); }
};

}  // namespace paceline::kernels::packed
