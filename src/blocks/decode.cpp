#include <string>

#include "blocks/decoders.h"
#include "paceline/error.h"

namespace paceline::blocks {
namespace {

[[noreturn]] void refuse(const StoredTensor& tensor, ErrorCode code, const std::string& what) {
  throw Error(code, "[blocks] tensor '" + tensor.name + "': " + what);
}

DecodeBlocks find_decoder(Encoding encoding) {
  for (const auto find : {plain_decoder, legacy_decoder, k_decoder, table_decoder}) {
    if (const DecodeBlocks decode = find(encoding)) return decode;
  }
  return nullptr;
}

void check_range(const StoredTensor& tensor, int64_t first, int64_t count, std::size_t out_size) {
  const int64_t rows = tensor.rows();
  if (first < 0 || count < 0 || first > rows || count > rows - first) {
    refuse(tensor, ErrorCode::invalid_argument,
           "rows [" + std::to_string(first) + ", +" + std::to_string(count) + "), expected within " +
               std::to_string(rows));
  }
  if (out_size != static_cast<std::size_t>(count * tensor.columns())) {
    refuse(tensor, ErrorCode::invalid_argument,
           "room for " + std::to_string(out_size) + " values, expected " + std::to_string(count * tensor.columns()));
  }
}

void check_blocks(const StoredTensor& tensor, const EncodingInfo& format) {
  if (tensor.columns() % format.block_values != 0) {
    refuse(tensor, ErrorCode::invalid_argument,
           "rows of " + std::to_string(tensor.columns()) + " values, expected whole blocks of " +
               std::to_string(format.block_values));
  }
  const auto bytes = static_cast<std::size_t>(tensor.values() / format.block_values * format.block_bytes);
  if (tensor.data.size() != bytes) {
    refuse(tensor, ErrorCode::invalid_argument,
           std::to_string(tensor.data.size()) + " bytes, expected " + std::to_string(bytes));
  }
}

}  // namespace

int64_t StoredTensor::values() const {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

int64_t StoredTensor::columns() const { return shape.empty() ? 1 : shape.back(); }

int64_t StoredTensor::rows() const { return columns() == 0 ? 0 : values() / columns(); }

void decode_rows(const StoredTensor& tensor, int64_t first, int64_t count, std::span<float> out) {
  const EncodingInfo& format = info(tensor.encoding);
  if (!format.decodable) {
    refuse(tensor, ErrorCode::unsupported, "type " + std::string(format.name) + " is known but cannot be decoded");
  }
  check_range(tensor, first, count, out.size());
  if (is_mlx(tensor.encoding)) {
    check_mlx(tensor);
    return decode_mlx(tensor, first, count, out);
  }
  check_blocks(tensor, format);
  const int64_t row_blocks = tensor.columns() / format.block_values;
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.data.data());
  if (out.empty()) return;
  find_decoder(tensor.encoding)(bytes + first * row_blocks * format.block_bytes, count * row_blocks, out.data());
}

}  // namespace paceline::blocks
