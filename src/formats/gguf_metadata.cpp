#include <algorithm>
#include <string>

#include "formats/byte_reader.h"
#include "formats/gguf.h"

namespace paceline::formats {
namespace {

enum Type : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

class ValueReader {
 public:
  ValueReader(ByteReader& reader, const FileContext& file) : reader_(reader), file_(file) {}

  std::string key() {
    const auto size = reader_.number<uint64_t>("a key's length");
    if (size == 0 || size > GgufLimits::kKeyBytesMax) {
      file_.bad("a key of " + std::to_string(size) + " bytes at byte " + std::to_string(reader_.position()) +
                ", expected 1 to " + std::to_string(GgufLimits::kKeyBytesMax));
    }
    key_ = reader_.text(size, "a key");
    const auto printable = [](char c) { return c >= 0x20 && c < 0x7f; };
    if (!std::all_of(key_.begin(), key_.end(), printable)) {
      file_.bad("key " + shown(key_) + ": not printable ASCII");
    }
    return std::string(key_);
  }

  Metadata::Value value() {
    const auto type = reader_.number<uint32_t>("a value's type");
    return type == Type::array ? array_value() : scalar_value(type);
  }

 private:
  Metadata::Value scalar_value(uint32_t type) {
    switch (type) {
      case Type::u8:
        return uint64_t{number<uint8_t>()};
      case Type::i8:
        return int64_t{number<int8_t>()};
      case Type::u16:
        return uint64_t{number<uint16_t>()};
      case Type::i16:
        return int64_t{number<int16_t>()};
      case Type::u32:
        return uint64_t{number<uint32_t>()};
      case Type::i32:
        return int64_t{number<int32_t>()};
      case Type::u64:
        return number<uint64_t>();
      case Type::i64:
        return number<int64_t>();
      case Type::f32:
        return double{number<float>()};
      case Type::f64:
        return number<double>();
      case Type::boolean:
        return boolean_value();
      case Type::string:
        return string_value();
      default:
        unknown(type);
    }
  }

  Metadata::Value array_value() {
    const auto type = reader_.number<uint32_t>("an array's type");
    const auto count = reader_.number<uint64_t>("an array's length");
    switch (type) {
      case Type::u8:
        return numbers<uint64_t, uint8_t>(count);
      case Type::i8:
        return numbers<int64_t, int8_t>(count);
      case Type::u16:
        return numbers<uint64_t, uint16_t>(count);
      case Type::i16:
        return numbers<int64_t, int16_t>(count);
      case Type::u32:
        return numbers<uint64_t, uint32_t>(count);
      case Type::i32:
        return numbers<int64_t, int32_t>(count);
      case Type::u64:
        return numbers<uint64_t, uint64_t>(count);
      case Type::i64:
        return numbers<int64_t, int64_t>(count);
      case Type::f32:
        return numbers<double, float>(count);
      case Type::f64:
        return numbers<double, double>(count);
      case Type::boolean:
        return items<bool>(count, 1, [&] { return boolean_value(); });
      case Type::string:
        return items<std::string_view>(count, 8, [&] { return string_value(); });
      case Type::array:
        file_.bad("key " + shown(key_) + ": an array of arrays, expected plain items");
      default:
        unknown(type);
    }
  }

  template <class Wide, class Stored>
  std::vector<Wide> numbers(uint64_t count) {
    return items<Wide>(count, sizeof(Stored), [&] { return static_cast<Wide>(number<Stored>()); });
  }

  /// Refuses counts that the bytes left cannot hold before it reserves memory.
  template <class Item>
  std::vector<Item> items(uint64_t count, uint64_t bytes_min, const auto& read) {
    if (count > reader_.left() / bytes_min) {
      file_.bad("key " + shown(key_) + ": an array of " + std::to_string(count) + " items, " +
                std::to_string(reader_.left()) + " bytes left");
    }
    if (count > GgufLimits::kArrayItemsMax - items_) {
      file_.bad("key " + shown(key_) + ": an array of " + std::to_string(count) + " items, expected at most " +
                std::to_string(GgufLimits::kArrayItemsMax) + " in all arrays");
    }
    items_ += count;
    std::vector<Item> out;
    out.reserve(count);
    for (uint64_t i = 0; i < count; ++i) out.push_back(read());
    return out;
  }

  template <class T>
  T number() {
    return reader_.number<T>("a value");
  }

  bool boolean_value() {
    const auto byte = number<uint8_t>();
    if (byte > 1) file_.bad("key " + shown(key_) + ": bool " + std::to_string(byte) + ", expected 0 or 1");
    return byte == 1;
  }

  std::string_view string_value() {
    const auto size = reader_.number<uint64_t>("a string's length");
    return reader_.text(size, "a string");
  }

  [[noreturn]] void unknown(uint32_t type) const {
    file_.bad("key " + shown(key_) + ": value type " + std::to_string(type) + ", expected 0 to 12");
  }

  ByteReader& reader_;
  const FileContext& file_;
  std::string_view key_;
  uint64_t items_ = 0;
};

}  // namespace

Metadata read_gguf_metadata(ByteReader& reader, uint64_t count, const FileContext& file) {
  Metadata metadata;
  ValueReader values(reader, file);
  for (uint64_t i = 0; i < count; ++i) {
    std::string key = values.key();
    if (metadata.has(key)) file.bad("key " + shown(key) + ": stored twice");
    metadata.insert(std::move(key), values.value());
  }
  return metadata;
}

}  // namespace paceline::formats
