#pragma once

#include <cstdint>
#include <cstring>

namespace paceline::kernels::packed {

/// Codes of 32 inputs x 16 outputs in memory: planes of 4, 2 or 1 bits, or bytes.
///   8 bits: vector q holds quad q.
///   4 bits: vector v holds quad 2v in the low and quad 2v + 1 in the high halves of its bytes.
///   2 bits: vector v holds quads 4v .. 4v + 3, lowest bits first.   1 bit: bit q is quad q.
/// 3, 5 and 6 bits: the plane of the low bits, then the plane of the high bits.
template <int Bits>
struct Planes {
  static_assert(Bits == 2 || Bits == 3 || Bits == 4 || Bits == 5 || Bits == 6 || Bits == 8);
  static constexpr int kBytes = 64 * Bits;
  static constexpr int kLow = Bits == 3 ? 2 : Bits == 5 || Bits == 6 ? 4 : Bits;
  static constexpr int kHigh = Bits - kLow;

  // --- packing (plain C++)

  template <int Width>
  static void pack_plane(const uint8_t (*quads)[64], int shift, uint8_t* out) {
    constexpr int kQuads = 8 / Width;  // per vector
    for (int v = 0; v < Width; ++v) {
      for (int i = 0; i < 64; ++i) {
        unsigned byte = 0;
        for (int j = 0; j < kQuads; ++j) {
          const unsigned code = static_cast<unsigned>(quads[v * kQuads + j][i]) >> shift;
          byte |= (code & ((1U << Width) - 1U)) << (j * Width);
        }
        out[v * 64 + i] = static_cast<uint8_t>(byte);
      }
    }
  }

  static void pack(const uint8_t (*quads)[64], uint8_t* out) {
    pack_plane<kLow>(quads, 0, out);
    if constexpr (kHigh > 0) pack_plane<kHigh>(quads, kLow, out + 64 * kLow);
  }

  // --- reading with the byte operations B of one instruction set

  /// Quad q of the plane of `Width` bits at `plane`, from bit `To` of the result on.
  template <class B, int Width, int To>
  static typename B::Bytes plane_quad(const uint8_t* plane, int q) {
    constexpr int kQuads = 8 / Width;
    const typename B::Bytes vector = B::load(plane + q / kQuads * 64);
    if constexpr (Width == 8) {
      return vector;
    } else {
      const int shift = q % kQuads * Width - To;
      const auto moved = shift > 0   ? B::right(vector, shift)
                         : shift < 0 ? B::left(vector, -shift)
                                     : vector;
      return B::mask(moved, ((1 << Width) - 1) << To);
    }
  }

  /// Codes of the inputs 4q .. 4q + 3: [output * 4 + input % 4].
  template <class B>
  static typename B::Bytes quad(const uint8_t* in, int q) {
    const auto low = plane_quad<B, kLow, 0>(in, q);
    if constexpr (kHigh == 0) {
      return low;
    } else {
      return B::merge(low, plane_quad<B, kHigh, kLow>(in + 64 * kLow, q));
    }
  }
};

/// 32 codes of one row into its lane of quads.
inline void put_lane(const uint8_t* codes, int lane, uint8_t (*quads)[64]) {
  for (int q = 0; q < 8; ++q) std::memcpy(quads[q] + lane * 4, codes + q * 4, 4);
}

}  // namespace paceline::kernels::packed
