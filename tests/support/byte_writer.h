#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::support {

/// Appends little-endian fields; for building files byte by byte.
class ByteWriter {
 public:
  template <class T>
  ByteWriter& number(T value) {
    return raw(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
  }
  ByteWriter& raw(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  ByteWriter& fill(std::size_t count, int value = 0) {
    bytes_.insert(bytes_.end(), count, static_cast<std::byte>(value));
    return *this;
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace paceline::support
