#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "formats/file_context.h"

namespace paceline::formats {

/// Reads little-endian fields one after another and never past the end.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, const FileContext& file) : bytes_(bytes), file_(file) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }

  /// `what` names the field in the message of Error{bad_checkpoint}.
  template <class T>
  T number(std::string_view what) {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, take(sizeof value, what), sizeof value);
    return value;
  }

  std::string_view text(uint64_t size, std::string_view what) {
    return {reinterpret_cast<const char*>(take(size, what)), static_cast<std::size_t>(size)};
  }

 private:
  const std::byte* take(uint64_t size, std::string_view what) {
    if (size > left()) fail(size, what);
    const std::byte* at = bytes_.data() + position_;
    position_ += static_cast<std::size_t>(size);
    return at;
  }

  [[noreturn]] void fail(uint64_t size, std::string_view what) const {
    file_.bad("ends inside " + std::string(what) + ": " + std::to_string(size) + " bytes expected at byte " +
              std::to_string(position_) + ", " + std::to_string(left()) + " left");
  }

  std::span<const std::byte> bytes_;
  const FileContext& file_;
  std::size_t position_ = 0;
};

}  // namespace paceline::formats
