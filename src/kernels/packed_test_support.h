#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "blocks/stored_tensor.h"

/// Stored tensors of every format with random codes and reasonable scales.
namespace paceline::kernels::testing {

using blocks::Encoding;

struct FormatCase {
  Encoding encoding;
  int bits = 0;        ///< MLX
  int group_size = 0;  ///< MLX
  Encoding scale_encoding = Encoding::bf16;
  int64_t step() const {  ///< inputs come in multiples of it
    return group_size > 0 ? (group_size > 32 ? group_size : 32)
                          : blocks::info(encoding).block_values;
  }
  std::string text() const {
    std::string name(blocks::info(encoding).name);
    if (bits > 0) name += "/" + std::to_string(bits) + "/" + std::to_string(group_size);
    return name;
  }
};

inline std::vector<FormatCase> all_formats() {
  std::vector<FormatCase> cases;
  for (const Encoding e : {Encoding::f32, Encoding::f16, Encoding::bf16, Encoding::q4_0,
                           Encoding::q4_1, Encoding::q5_0, Encoding::q5_1, Encoding::q8_0,
                           Encoding::q2_k, Encoding::q3_k, Encoding::q4_k, Encoding::q5_k,
                           Encoding::q6_k, Encoding::iq4_nl, Encoding::iq4_xs, Encoding::mxfp4}) {
    cases.push_back({.encoding = e});
  }
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    cases.push_back({Encoding::mlx_affine, bits, 64, Encoding::bf16});
  }
  cases.push_back({Encoding::mlx_affine, 4, 32, Encoding::f16});
  cases.push_back({Encoding::mlx_affine, 8, 128, Encoding::f32});
  cases.push_back({Encoding::mlx_affine, 3, 128, Encoding::f16});
  cases.push_back({Encoding::mlx_mxfp4, 4, 32, Encoding::u8});
  cases.push_back({Encoding::mlx_mxfp8, 8, 32, Encoding::u8});
  cases.push_back({Encoding::mlx_nvfp4, 4, 16, Encoding::u8});
  return cases;
}

/// A tensor that owns its bytes.
struct OwnedTensor {
  std::vector<std::byte> data, scales, biases;
  blocks::StoredTensor tensor;
};

class TensorMaker {
 public:
  explicit TensorMaker(uint32_t seed) : generator_(seed) {}

  std::shared_ptr<const OwnedTensor> make(const FormatCase& format, int64_t rows, int64_t columns) {
    auto owned = std::make_shared<OwnedTensor>();
    owned->tensor.name = "test";
    owned->tensor.encoding = format.encoding;
    owned->tensor.shape = {rows, columns};
    if (format.group_size > 0) {
      fill_groups(format, rows * columns, *owned);
    } else {
      fill_blocks(format.encoding, rows * columns, *owned);
    }
    owned->tensor.data = owned->data;
    return owned;
  }

 private:
  void random_bytes(std::vector<std::byte>& bytes, int64_t count) {
    bytes.resize(static_cast<std::size_t>(count));
    for (auto& byte : bytes) byte = static_cast<std::byte>(generator_());
  }
  /// A half or bfloat16 between 2^-6 and 2^-4 with a random sign, as bits.
  uint16_t small_half() {
    return static_cast<uint16_t>((9U << 10) + (generator_() & 0x7ffU) + (generator_() & 0x8000U));
  }
  uint16_t small_bf16() {
    return static_cast<uint16_t>((121U << 7) + (generator_() & 0xffU) + (generator_() & 0x8000U));
  }

  void put_scale(Encoding encoding, std::byte* at) {
    if (encoding == Encoding::u8) {
      *at = static_cast<std::byte>(40 + generator_() % 24);
    } else if (encoding == Encoding::f32) {
      const float value = std::uniform_real_distribution<float>(-0.1F, 0.1F)(generator_);
      std::memcpy(at, &value, 4);
    } else {
      const uint16_t bits = encoding == Encoding::f16 ? small_half() : small_bf16();
      std::memcpy(at, &bits, 2);
    }
  }

  void fill_groups(const FormatCase& format, int64_t values, OwnedTensor& out) {
    random_bytes(out.data, values / 8 * format.bits);
    if (format.encoding == Encoding::mlx_mxfp8) {  // no NaN
      for (auto& byte : out.data) {
        if ((byte & std::byte{0x7f}) == std::byte{0x7f}) byte = std::byte{1};
      }
    }
    const int size = blocks::info(format.scale_encoding).block_bytes;
    random_bytes(out.scales, values / format.group_size * size);
    const bool e8m0 = format.encoding != Encoding::mlx_nvfp4;
    for (std::size_t i = 0; i < out.scales.size(); i += static_cast<std::size_t>(size)) {
      put_scale(format.scale_encoding, &out.scales[i]);
      if (format.scale_encoding == Encoding::u8 && e8m0) {
        out.scales[i] = static_cast<std::byte>(120 + generator_() % 10);
      }
    }
    if (format.encoding == Encoding::mlx_affine) {
      out.biases = out.scales;
      for (std::size_t i = 0; i < out.biases.size(); i += static_cast<std::size_t>(size)) {
        put_scale(format.scale_encoding, &out.biases[i]);
      }
    }
    out.tensor.groups = blocks::MlxGroups{format.bits, format.group_size, format.scale_encoding,
                                          out.scales, out.biases};
  }

  void fill_blocks(Encoding encoding, int64_t values, OwnedTensor& out) {
    const blocks::EncodingInfo& info = blocks::info(encoding);
    random_bytes(out.data, values / info.block_values * info.block_bytes);
    for (std::size_t at = 0; at < out.data.size();
         at += static_cast<std::size_t>(info.block_bytes)) {
      for (const int field : scale_fields(encoding)) {
        const Encoding kind =
            encoding == Encoding::f32 || encoding == Encoding::bf16 ? encoding : Encoding::f16;
        put_scale(kind, &out.data[at + static_cast<std::size_t>(field)]);
      }
      if (encoding == Encoding::mxfp4) {
        out.data[at] = static_cast<std::byte>(120 + generator_() % 10);
      }
    }
  }

  static std::vector<int> scale_fields(Encoding encoding) {
    switch (encoding) {
      case Encoding::q4_1:
      case Encoding::q5_1:
      case Encoding::q4_k:
      case Encoding::q5_k:
        return {0, 2};
      case Encoding::q2_k:
        return {80, 82};
      case Encoding::q3_k:
        return {108};
      case Encoding::q6_k:
        return {208};
      case Encoding::mxfp4:
        return {};
      default:
        return {0};
    }
  }

  std::mt19937 generator_;
};

inline std::shared_ptr<const OwnedTensor> random_tensor(const FormatCase& format, int64_t rows,
                                                        int64_t columns, uint32_t seed) {
  return TensorMaker(seed).make(format, rows, columns);
}

}  // namespace paceline::kernels::testing
