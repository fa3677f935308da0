#pragma once

#include <cstring>

#include "kernels/packed/layout.h"
#include "kernels/packed/legacy.h"
#include "kernels/packed/planes_inl.h"

// GGUF super-blocks of 256 values: w = (d * scale) * code - dmin * min, or (d * scale) * (code -
// zero). A unit is one super-block of 16 rows: d f16 [16], dmin f16 [16] (or 32 unused bytes),
// scales [groups][16] and mins [groups][16] as bytes, codes [8].

namespace paceline::kernels::packed {

/// What the file's blocks say, in plain bytes.
struct SuperBlock {
  uint8_t d[2] = {};
  uint8_t dmin[2] = {};
  uint8_t scales[16] = {};  ///< unsigned with mins, else two's complement; Q2_K: scale | min << 4
  uint8_t mins[16] = {};
  uint8_t codes[256] = {};
};

/// Source: kGroup, kBits, kZero, kMins, kCodeMax, kTable, kMinBytes (0 where scales hold them),
/// read(block) and, for the vectors of an instruction set, scale(bytes) and min(bytes).
template <class Source>
struct SuperBlocks {
  using Codes = Planes<Source::kBits>;
  static constexpr int kGroups = 256 / Source::kGroup;
  static constexpr int kScalesAt = 64;
  static constexpr int kMinsAt = kScalesAt + kGroups * 16;
  static constexpr int kCodesAt = kMinsAt + (Source::kMinBytes ? kGroups * 16 : 0);
  static constexpr int kUnitBytes = kCodesAt + 8 * Codes::kBytes;

  static bool takes(const blocks::StoredTensor& tensor) {
    return tensor.encoding == Source::kEncoding;
  }
  static Layout layout(const blocks::StoredTensor&) {
    return {.codes = true,
            .unit_inputs = 256,
            .unit_bytes = kUnitBytes,
            .group = Source::kGroup,
            .zero = Source::kZero,
            .mins = Source::kMins,
            .code_max = Source::kCodeMax};
  }

  static void pack_unit(const Layout&, const PackRows& rows, int64_t unit, uint8_t* out) {
    alignas(64) uint8_t quads[8][8][64] = {};
    for (int lane = 0; lane < kTileOutputs; ++lane) {
      if (rows.lanes[lane].codes == nullptr) continue;
      SuperBlock block;
      Source::read(rows.lanes[lane].codes + unit * Source::kBytes, block);
      std::memcpy(out + lane * 2, block.d, 2);
      std::memcpy(out + 32 + lane * 2, block.dmin, 2);
      for (int g = 0; g < kGroups; ++g) {
        out[kScalesAt + g * 16 + lane] = block.scales[g];
        if (Source::kMinBytes) out[kMinsAt + g * 16 + lane] = block.mins[g];
      }
      for (int g = 0; g < 8; ++g) put_lane(block.codes + g * 32, lane, quads[g]);
    }
    for (int g = 0; g < 8; ++g) Codes::pack(quads[g], out + kCodesAt + g * Codes::kBytes);
  }

  static constexpr int kGroup = Source::kGroup, kZero = Source::kZero;
  static constexpr int kCodeMax = Source::kCodeMax;
  static constexpr bool kMins = Source::kMins;
  static constexpr bool kLookup = Source::kLookup;
  static constexpr const uint8_t* kTable = Source::kTable;

  PACELINE_INLINE static const uint8_t* codes(const Layout&, const uint8_t* chunk, int g) {
    return chunk + kCodesAt + g * Codes::kBytes;
  }
  template <class B>
  static typename B::F scale(const Layout&, const uint8_t* chunk, int group) {
    const auto scales = Source::template scale<B>(chunk + kScalesAt + group * 16);
    return B::V::mul(B::load_f16(chunk), scales);
  }
  /// What is added: -(dmin * min).
  template <class B>
  static typename B::F min(const Layout&, const uint8_t* chunk, int group) {
    constexpr int kAt = Source::kMinBytes ? kMinsAt : kScalesAt;
    const auto mins = Source::template min<B>(chunk + kAt + group * 16);
    return B::V::sub(B::V::set(-0.0F), B::V::mul(B::load_f16(chunk + 32), mins));
  }
};

/// Scales are unsigned bytes, mins too.
struct UnsignedScales {
  template <class B>
  static auto scale(const uint8_t* in) {
    return B::load_u8(in);
  }
  template <class B>
  static auto min(const uint8_t* in) {
    return B::load_u8(in);
  }
};

/// Scales are signed bytes, no mins.
struct SignedScales {
  template <class B>
  static auto scale(const uint8_t* in) {
    return B::load_i8(in);
  }
};

/// The eight 6-bit scales and mins of Q4_K and Q5_K, packed into 12 bytes.
inline void read_scales_mins(const uint8_t* s, SuperBlock& out) {
  for (int j = 0; j < 4; ++j) {
    out.scales[j] = s[j] & 63;
    out.mins[j] = s[j + 4] & 63;
    out.scales[j + 4] = static_cast<uint8_t>((s[j + 8] & 15) | (s[j] >> 6) << 4);
    out.mins[j + 4] = static_cast<uint8_t>((s[j + 8] >> 4) | (s[j + 4] >> 6) << 4);
  }
}

/// 64 codes from 32 bytes: the low nibbles, then the high ones.
inline void read_nibbles_64(const uint8_t* in, uint8_t* codes) {
  for (int l = 0; l < 32; ++l) {
    codes[l] = in[l] & 15;
    codes[l + 32] = in[l] >> 4;
  }
}

struct SourceQ4_K : UnsignedScales {
  static constexpr auto kEncoding = blocks::Encoding::q4_k;
  static constexpr int kBytes = 144, kBits = 4, kGroup = 32, kZero = 0, kCodeMax = 15;
  static constexpr bool kMins = true, kMinBytes = true;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, SuperBlock& out) {
    std::memcpy(out.d, in, 2);
    std::memcpy(out.dmin, in + 2, 2);
    read_scales_mins(in + 4, out);
    for (int j = 0; j < 4; ++j) read_nibbles_64(in + 16 + 32 * j, out.codes + 64 * j);
  }
};

struct SourceQ5_K : UnsignedScales {
  static constexpr auto kEncoding = blocks::Encoding::q5_k;
  static constexpr int kBytes = 176, kBits = 5, kGroup = 32, kZero = 0, kCodeMax = 31;
  static constexpr bool kMins = true, kMinBytes = true;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, SuperBlock& out) {
    std::memcpy(out.d, in, 2);
    std::memcpy(out.dmin, in + 2, 2);
    read_scales_mins(in + 4, out);
    for (int j = 0; j < 4; ++j) read_nibbles_64(in + 48 + 32 * j, out.codes + 64 * j);
    for (int j = 0; j < 8; ++j) {
      for (int l = 0; l < 32; ++l) {
        uint8_t& code = out.codes[32 * j + l];
        code = static_cast<uint8_t>(code | (in[16 + l] >> j & 1) << 4);
      }
    }
  }
};

struct SourceQ6_K : SignedScales {
  static constexpr auto kEncoding = blocks::Encoding::q6_k;
  static constexpr int kBytes = 210, kBits = 6, kGroup = 16, kZero = 32, kCodeMax = 63;
  static constexpr bool kMins = false, kMinBytes = false;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, SuperBlock& out) {
    std::memcpy(out.d, in + 208, 2);
    std::memcpy(out.scales, in + 192, 16);
    for (int half = 0; half < 2; ++half) {
      const uint8_t* low = in + 64 * half;
      const uint8_t* high = in + 128 + 32 * half;
      uint8_t* codes = out.codes + 128 * half;
      for (int l = 0; l < 32; ++l) {
        codes[l] = static_cast<uint8_t>((low[l] & 15) | (high[l] & 3) << 4);
        codes[l + 32] = static_cast<uint8_t>((low[l + 32] & 15) | (high[l] >> 2 & 3) << 4);
        codes[l + 64] = static_cast<uint8_t>((low[l] >> 4) | (high[l] >> 4 & 3) << 4);
        codes[l + 96] = static_cast<uint8_t>((low[l + 32] >> 4) | (high[l] >> 6) << 4);
      }
    }
  }
};

/// The 2-bit codes of Q2_K and Q3_K: 32 bytes hold four runs of 32.
inline void read_pairs(const uint8_t* in, uint8_t* codes) {
  for (int half = 0; half < 2; ++half) {
    for (int j = 0; j < 4; ++j) {
      for (int l = 0; l < 32; ++l) {
        codes[128 * half + 32 * j + l] = in[32 * half + l] >> (2 * j) & 3;
      }
    }
  }
}

struct SourceQ2_K {
  static constexpr auto kEncoding = blocks::Encoding::q2_k;
  static constexpr int kBytes = 84, kBits = 2, kGroup = 16, kZero = 0, kCodeMax = 3;
  static constexpr bool kMins = true, kMinBytes = false;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, SuperBlock& out) {
    std::memcpy(out.scales, in, 16);
    std::memcpy(out.d, in + 80, 2);
    std::memcpy(out.dmin, in + 82, 2);
    read_pairs(in + 16, out.codes);
  }
  template <class B>
  static auto scale(const uint8_t* in) {
    return B::load_low4(in);
  }
  template <class B>
  static auto min(const uint8_t* in) {
    return B::load_high4(in);
  }
};

struct SourceQ3_K : SignedScales {
  static constexpr auto kEncoding = blocks::Encoding::q3_k;
  static constexpr int kBytes = 110, kBits = 3, kGroup = 16, kZero = 4, kCodeMax = 7;
  static constexpr bool kMins = false, kMinBytes = false;
  static constexpr bool kLookup = false;
  static constexpr const uint8_t* kTable = nullptr;
  static void read(const uint8_t* in, SuperBlock& out) {
    std::memcpy(out.d, in + 108, 2);
    const uint8_t* s = in + 96;
    for (int g = 0; g < 16; ++g) {
      const int low = g < 8 ? s[g] & 15 : s[g - 8] >> 4;
      const int high = s[8 + (g & 3)] >> (2 * (g / 4)) & 3;
      out.scales[g] = static_cast<uint8_t>((low | high << 4) - 32);
    }
    read_pairs(in + 32, out.codes);
    for (int j = 0; j < 8; ++j) {
      for (int l = 0; l < 32; ++l) {
        uint8_t& code = out.codes[32 * j + l];
        code = static_cast<uint8_t>(code | (in[l] >> j & 1) << 2);
      }
    }
  }
};

}  // namespace paceline::kernels::packed
