#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/assert.h"
#include "blocks/decoders.h"
#include "blocks/scalar.h"
#include "paceline/error.h"

// A row is one little-endian bit stream: element j occupies bits [j * bits, (j + 1) * bits).
// Decoding takes two passes: codes to floats, then scale * code (+ bias) per group.

namespace paceline::blocks {
namespace {

constexpr std::array<float, 16> kFp4 = {0.f,  .5f,  1.f,  1.5f,  2.f,  3.f,  4.f,  6.f,
                                        -0.f, -.5f, -1.f, -1.5f, -2.f, -3.f, -4.f, -6.f};
constexpr std::array<float, 256> kE4m3 = [] {
  std::array<float, 256> table{};
  for (int code = 0; code < 256; ++code) table[code] = e4m3_value(static_cast<uint8_t>(code));
  return table;
}();

template <int Bits>
struct Integers {
  static constexpr int kBytes = 4 * Bits, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    for (int pack = 0; pack < 4; ++pack) {  // eight codes fill exactly Bits bytes
      uint64_t stream = 0;
      std::memcpy(&stream, in + pack * Bits, Bits);
      for (int j = 0; j < 8; ++j) {
        const auto code = static_cast<int32_t>(stream >> (Bits * j) & ((1u << Bits) - 1));
        out[8 * pack + j] = static_cast<float>(code);
      }
    }
  }
};

struct Fp4 {
  static constexpr int kBytes = 16, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    for (int j = 0; j < 16; ++j) {
      out[2 * j] = kFp4[in[j] & 15];
      out[2 * j + 1] = kFp4[in[j] >> 4];
    }
  }
};

struct Fp8 {
  static constexpr int kBytes = 32, kValues = 32;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) {
    for (int j = 0; j < 32; ++j) out[j] = kE4m3[in[j]];
  }
};

DecodeBlocks code_decoder(Encoding encoding, int bits) {
  if (encoding == Encoding::mlx_mxfp8) return block_decoder<Fp8>();
  if (encoding != Encoding::mlx_affine) return block_decoder<Fp4>();
  switch (bits) {
    case 2:
      return block_decoder<Integers<2>>();
    case 3:
      return block_decoder<Integers<3>>();
    case 4:
      return block_decoder<Integers<4>>();
    case 5:
      return block_decoder<Integers<5>>();
    case 6:
      return block_decoder<Integers<6>>();
    default:
      return block_decoder<Integers<8>>();
  }
}

/// The scales or biases of one row as floats.
void side_values(Encoding mode, Encoding stored, const std::byte* at, std::vector<float>& out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(at);
  const auto count = static_cast<int64_t>(out.size());
  if (const DecodeBlocks decode = plain_decoder(stored)) return decode(bytes, count, out.data());
  const bool e4m3 = mode == Encoding::mlx_nvfp4;
  for (int64_t i = 0; i < count; ++i) out[i] = e4m3 ? kE4m3[bytes[i]] : e8m0_value(bytes[i]);
}

void apply_groups(const std::vector<float>& scales, const std::vector<float>& biases, int group_size, float* out) {
  for (std::size_t g = 0; g < scales.size(); ++g, out += group_size) {
    const float scale = scales[g];
    if (biases.empty()) {
      for (int j = 0; j < group_size; ++j) out[j] = scale * out[j];
    } else {
      const float bias = biases[g];
      for (int j = 0; j < group_size; ++j) out[j] = scale * out[j] + bias;
    }
  }
}

[[noreturn]] void refuse(const StoredTensor& tensor, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "[blocks] tensor '" + tensor.name + "': " + what);
}

bool parameters_valid(Encoding mode, const MlxGroups& groups) {
  const int bits = groups.bits, size = groups.group_size;
  const bool code_scales = groups.scale_encoding == Encoding::u8;
  if (mode == Encoding::mlx_mxfp4) return bits == 4 && size == 32 && code_scales;
  if (mode == Encoding::mlx_mxfp8) return bits == 8 && size == 32 && code_scales;
  if (mode == Encoding::mlx_nvfp4) return bits == 4 && size == 16 && code_scales;
  return bits >= 2 && bits <= 8 && bits != 7 && (size == 32 || size == 64 || size == 128) &&
         plain_decoder(groups.scale_encoding) != nullptr;
}

}  // namespace

void check_mlx(const StoredTensor& tensor) {
  if (!tensor.groups) refuse(tensor, "no groups, expected them for an MLX encoding");
  const MlxGroups& groups = *tensor.groups;
  if (!parameters_valid(tensor.encoding, groups)) {
    refuse(tensor, std::to_string(groups.bits) + " bits in groups of " + std::to_string(groups.group_size) +
                       " with scales of type " + std::string(info(groups.scale_encoding).name) +
                       " do not exist in mode " + std::string(info(tensor.encoding).name));
  }
  // Rows end at whole 32-bit words.
  if (tensor.columns() % std::max(groups.group_size, 32) != 0) refuse(tensor, "rows are not whole groups");
  const auto codes = static_cast<std::size_t>(tensor.values() / 8 * groups.bits);
  const auto side =
      static_cast<std::size_t>(tensor.values() / groups.group_size * info(groups.scale_encoding).block_bytes);
  const std::size_t biases = tensor.encoding == Encoding::mlx_affine ? side : 0;
  if (tensor.data.size() != codes || groups.scales.size() != side || groups.biases.size() != biases) {
    refuse(tensor, std::to_string(tensor.data.size()) + " bytes of codes, " + std::to_string(groups.scales.size()) +
                       " of scales, " + std::to_string(groups.biases.size()) + " of biases, expected " +
                       std::to_string(codes) + ", " + std::to_string(side) + ", " + std::to_string(biases));
  }
}

void decode_mlx(const StoredTensor& tensor, int64_t first, int64_t count, std::span<float> out) {
  const MlxGroups& groups = *tensor.groups;
  const int64_t columns = tensor.columns();
  const int64_t row_groups = columns / groups.group_size;
  const int64_t side_bytes = row_groups * info(groups.scale_encoding).block_bytes;
  const DecodeBlocks decode = code_decoder(tensor.encoding, groups.bits);
  const auto* codes = reinterpret_cast<const uint8_t*>(tensor.data.data());
  std::vector<float> scales(row_groups), biases(groups.biases.empty() ? 0 : row_groups);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = first + i;
    float* values = out.data() + i * columns;
    decode(codes + row * (columns / 8 * groups.bits), columns / 32, values);
    side_values(tensor.encoding, groups.scale_encoding, groups.scales.data() + row * side_bytes, scales);
    if (!biases.empty()) {
      side_values(tensor.encoding, groups.scale_encoding, groups.biases.data() + row * side_bytes, biases);
    }
    apply_groups(scales, biases, groups.group_size, values);
  }
}

}  // namespace paceline::blocks
