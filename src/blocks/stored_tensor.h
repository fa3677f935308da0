#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::blocks {

// clang-format off
/// How a tensor's values are stored. Layouts: docs/formats.md.
enum class Encoding : uint8_t {
  // One value per element.
  f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean, f8_e4m3, f8_e5m2, f8_e8m0, c64,
  // GGUF blocks along the last axis.
  q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs, mxfp4,
  // MLX groups along the last axis: packed values, scales and (affine) biases are separate byte ranges.
  mlx_affine, mlx_mxfp4, mlx_mxfp8, mlx_nvfp4,
  // Known GGUF types that this build names but does not decode.
  q8_1, q8_k, iq2_xxs, iq2_xs, iq3_xxs, iq1_s, iq1_m, iq3_s, iq2_s, tq1_0, tq2_0, gguf_nvfp4,
  q1_0, q2_0,
};
// clang-format on

struct EncodingInfo {
  std::string_view name;  ///< as printed, for example "Q4_K"
  int block_values;       ///< values per block along the last axis (1 for plain types; 0 for MLX groups)
  int block_bytes;        ///< bytes per block
  bool decodable;         ///< decode_rows() handles it
};
const EncodingInfo& info(Encoding encoding);
bool is_mlx(Encoding encoding);  ///< mlx_*

/// The side data of an MLX-quantised tensor.
struct MlxGroups {
  int bits = 0;                       ///< 2, 3, 4, 5, 6, 8
  int group_size = 0;                 ///< values along the last axis that share a scale
  Encoding scale_encoding{};          ///< f16, bf16, f32; u8 codes for the fp modes
  std::span<const std::byte> scales;  ///< [..., out, in / group_size]
  std::span<const std::byte> biases;  ///< same shape, affine only
};

/// One tensor of a model file: a span of mapped bytes and what they mean. Cheap to copy; the
/// Checkpoint owns the bytes.
struct StoredTensor {
  std::string name;  ///< as in the file
  Encoding encoding = Encoding::f32;
  std::vector<int64_t> shape;  ///< logical values, row major, last axis contiguous ([out, in] for a linear)
  std::span<const std::byte> data;
  std::optional<MlxGroups> groups;  ///< set exactly for mlx_* encodings

  int64_t values() const;
  int64_t columns() const;  ///< last axis; 1 for a scalar
  int64_t rows() const;     ///< values() / columns()
};

/// Decodes rows [first, first + count) into `out` (count * columns() floats), exactly as the format
/// defines them in f32 arithmetic. Throws Error{unsupported} for encodings that are not decodable,
/// Error{invalid_argument} for a range or size that does not fit. Any thread. Source: GGUF block
/// formulas in docs/formats.md.
void decode_rows(const StoredTensor& tensor, int64_t first, int64_t count, std::span<float> out);

}  // namespace paceline::blocks
