#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/byte_writer.h"

namespace paceline::support {

/// A safetensors file of any header text and data, valid or not.
inline std::vector<std::byte> raw_safetensors(std::string_view header, std::size_t data_bytes,
                                              std::optional<uint64_t> header_bytes = {}) {
  ByteWriter out;
  out.number<uint64_t>(header_bytes.value_or(header.size())).raw(header).fill(data_bytes, 1);
  return out.bytes();
}

/// Adds tensors one after another.
class SafetensorsBuilder {
 public:
  SafetensorsBuilder& tensor(std::string_view name, std::string_view dtype, std::string_view shape, std::size_t bytes,
                             int fill = 1) {
    header_ += (header_.empty() ? "{" : ",");
    header_.append("\"").append(name).append("\":{\"dtype\":\"").append(dtype).append("\",\"shape\":").append(shape);
    header_ += ",\"data_offsets\":[" + std::to_string(data_.size()) + "," + std::to_string(data_.size() + bytes) + "]}";
    data_.fill(bytes, fill);
    return *this;
  }

  std::vector<std::byte> build() const {
    const std::string header = header_.empty() ? "{}" : header_ + "}";
    ByteWriter out;
    out.number<uint64_t>(header.size()).raw(header);
    for (const std::byte b : data_.bytes()) out.number(b);
    return out.bytes();
  }

 private:
  std::string header_;
  ByteWriter data_;
};

}  // namespace paceline::support
