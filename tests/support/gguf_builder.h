#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "support/byte_writer.h"

namespace paceline::support {

/// Builds GGUF files, valid or not: every field can be set to anything.
struct GgufBuilder {
  uint32_t magic = 0x46554747, version = 3;
  std::optional<uint64_t> tensor_count, key_count;  ///< default: as many as were added
  std::size_t alignment = 32;                       ///< of the data section that build() writes
  ByteWriter data;

  /// A key with a type number and its raw value.
  GgufBuilder& key(std::string_view name, uint32_t type, const ByteWriter& value) {
    string(keys_, name).number(type);
    for (const std::byte b : value.bytes()) keys_.number(b);
    ++keys_added_;
    return *this;
  }
  template <class T>
  GgufBuilder& scalar(std::string_view name, uint32_t type, T value) {
    return key(name, type, ByteWriter().number(value));
  }
  GgufBuilder& text(std::string_view name, std::string_view value) {
    ByteWriter bytes;
    return key(name, 8, string(bytes, value));
  }
  /// `items` holds the raw elements.
  GgufBuilder& array(std::string_view name, uint32_t type, uint64_t count, const ByteWriter& items) {
    ByteWriter bytes;
    bytes.number(type).number(count);
    for (const std::byte b : items.bytes()) bytes.number(b);
    return key(name, 9, bytes);
  }

  struct Tensor {
    std::string name = "t";
    std::vector<uint64_t> dims = {4};
    uint32_t type = 0;
    uint64_t offset = 0;
    std::optional<uint32_t> dim_count = {};
  };
  GgufBuilder& tensor(const Tensor& t) {
    string(tensors_, t.name).number(t.dim_count.value_or(static_cast<uint32_t>(t.dims.size())));
    for (const uint64_t dim : t.dims) tensors_.number(dim);
    tensors_.number(t.type).number(t.offset);
    ++tensors_added_;
    return *this;
  }

  std::vector<std::byte> build() const {
    ByteWriter out;
    out.number(magic).number(version);
    out.number(tensor_count.value_or(tensors_added_)).number(key_count.value_or(keys_added_));
    for (const std::byte b : keys_.bytes()) out.number(b);
    for (const std::byte b : tensors_.bytes()) out.number(b);
    if (data.size() > 0) out.fill((alignment - out.size() % alignment) % alignment);
    for (const std::byte b : data.bytes()) out.number(b);
    return out.bytes();
  }

  /// u64 length and bytes.
  static ByteWriter& string(ByteWriter& out, std::string_view text) {
    return out.number<uint64_t>(text.size()).raw(text);
  }

 private:
  ByteWriter keys_, tensors_;
  uint64_t keys_added_ = 0, tensors_added_ = 0;
};

/// A small valid file with every value type and three tensors.
inline GgufBuilder valid_gguf() {
  GgufBuilder b;
  ByteWriter strings, numbers, bools;
  for (const char* token : {"<s>", "a", "\xff"}) GgufBuilder::string(strings, token);
  for (const int32_t n : {1, -2, 3}) numbers.number(n);
  bools.raw(std::string_view("\1\0", 2));
  b.text("general.architecture", "llama");
  b.scalar<uint32_t>("general.alignment", 4, 32);
  b.scalar<uint8_t>("x.u8", 0, 200).scalar<int8_t>("x.i8", 1, -5);
  b.scalar<uint16_t>("x.u16", 2, 60000).scalar<int16_t>("x.i16", 3, -300);
  b.scalar<uint32_t>("x.u32", 4, 4000000000u).scalar<int32_t>("x.i32", 5, -7);
  b.scalar<float>("x.f32", 6, 0.5f).scalar<uint8_t>("x.bool", 7, 1);
  b.scalar<uint64_t>("x.u64", 10, ~0ull).scalar<int64_t>("x.i64", 11, -9).scalar<double>("x.f64", 12, 2.5);
  b.array("x.tokens", 8, 3, strings).array("x.ints", 5, 3, numbers).array("x.bools", 7, 2, bools);
  b.array("x.empty", 4, 0, {});
  b.tensor({.name = "a.weight", .dims = {32, 2}, .type = 2, .offset = 0});
  b.tensor({.name = "b.weight", .dims = {3}, .type = 0, .offset = 64});
  b.tensor({.name = "c.weight", .dims = {256}, .type = 16, .offset = 96});
  b.data.fill(96 + 66, 1);
  return b;
}

}  // namespace paceline::support
