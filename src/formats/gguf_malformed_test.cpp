#include <doctest/doctest.h>

#include <functional>

#include "formats/gguf.h"
#include "support/allocation_probe.h"
#include "support/error_of.h"
#include "support/gguf_builder.h"

// Every file here is refused with a code and a text that names the fault.

using namespace paceline;
using namespace paceline::formats;
using support::ByteWriter;
using support::GgufBuilder;
using support::valid_gguf;

namespace {

constexpr uint64_t kHuge = uint64_t{1} << 63;
constexpr ErrorCode kBad = ErrorCode::bad_checkpoint;
constexpr ErrorCode kUnsupported = ErrorCode::unsupported;

struct Case {
  const char* text;  ///< a part of the message
  std::function<void(GgufBuilder&)> change;
  ErrorCode code = kBad;
};

/// Applies the change to an otherwise good file of one f32 tensor.
void check(const Case& one) {
  CAPTURE(one.text);
  GgufBuilder b;
  b.text("general.architecture", "llama");
  b.data.fill(64);
  one.change(b);
  const std::vector<std::byte> bytes = b.build();
  const support::AllocationProbe memory;
  const support::Failure failure = support::error_of([&] { parse_gguf(bytes, "bad.gguf"); });
  CHECK(memory.bytes() < 16 * bytes.size() + (64 << 10));
  CHECK(failure.code == one.code);
  CHECK_MESSAGE(failure.text.find(one.text) != std::string::npos, failure.text);
  CHECK_MESSAGE((failure.text.starts_with("[gguf] bad.gguf: ") || failure.text.starts_with("[metadata] ")),
                failure.text);
}

void check_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) check(one);
}

ByteWriter text_of_size(uint64_t size) { return ByteWriter().number(size).raw("abc"); }

}  // namespace

TEST_CASE("bad GGUF headers are refused") {
  check_all({
      {"does not begin with 'GGUF'", [](GgufBuilder& b) { b.magic = 0x47475546; }},
      {"version 1,", [](GgufBuilder& b) { b.version = 1; }, kUnsupported},
      {"version 0,", [](GgufBuilder& b) { b.version = 0; }, kUnsupported},
      {"version 4,", [](GgufBuilder& b) { b.version = 4; }, kUnsupported},
      {"big-endian", [](GgufBuilder& b) { b.version = 0x03000000; }, kUnsupported},
      {"9223372036854775808 tensors", [](GgufBuilder& b) { b.tensor_count = kHuge; }},
      {"18446744073709551615 tensors", [](GgufBuilder& b) { b.tensor_count = ~0ull; }},
      {"9223372036854775808 keys", [](GgufBuilder& b) { b.key_count = kHuge; }},
      {"a tensor name of 0 bytes", [](GgufBuilder& b) { b.tensor_count = 1000; }},
      {"a key of 0 bytes", [](GgufBuilder& b) { b.key_count = 100; }},
  });
}

TEST_CASE("bad GGUF keys and values are refused") {
  const auto add = [](const char* key, uint32_t type, const ByteWriter& value) {
    return [=](GgufBuilder& b) { b.key(key, type, value); };
  };
  check_all({
      {"a key of 0 bytes", add("", 4, ByteWriter().number(1))},
      {"a key of 65536 bytes", [](GgufBuilder& b) { b.scalar(std::string(65536, 'k'), 4, 1); }},
      {"not printable ASCII", add("a\nb", 4, ByteWriter().number(1))},
      {"not printable ASCII", add("a\xff", 4, ByteWriter().number(1))},
      {"key 'k': value type 13", add("k", 13, ByteWriter().number(1))},
      {"key 'k': value type 4294967295", add("k", ~0u, ByteWriter().number(1))},
      {"key 'k': bool 2", add("k", 7, ByteWriter().number<uint8_t>(2))},
      {"key 'general.architecture': stored twice", [](GgufBuilder& b) { b.text("general.architecture", "x"); }},
      {"ends inside a string", add("k", 8, text_of_size(1 << 20))},
      {"ends inside a string", add("k", 8, text_of_size(kHuge))},
      {"ends inside a string", add("k", 8, text_of_size(~0ull))},
  });
}

TEST_CASE("bad GGUF arrays are refused before memory is taken") {
  const auto add = [](uint32_t type, uint64_t count) {
    return [=](GgufBuilder& b) { b.array("k", type, count, ByteWriter().number(uint64_t{0})); };
  };
  check_all({
      {"an array of 9223372036854775808 items", add(0, kHuge)},
      {"an array of 18446744073709551615 items", add(8, ~0ull)},
      {"an array of 2305843009213693952 items", add(10, kHuge >> 2)},
      {"an array of 1000 items", add(8, 1000)},
      {"an array of 1000 items", add(12, 1000)},
      {"an array of arrays", add(9, 1)},
      {"value type 13", add(13, 1)},
      {"key 'k': bool 9", [](GgufBuilder& b) { b.array("k", 7, 1, ByteWriter().number<uint8_t>(9)); }},
      {"expected at most 16777216 in all arrays",
       [](GgufBuilder& b) { b.array("k", 0, (1 << 24) + 1, ByteWriter().fill((1 << 24) + 1)); }},
      {"ends inside a string",
       [](GgufBuilder& b) { b.array("k", 8, 2, ByteWriter().number<uint64_t>(0).number<uint64_t>(1000)); }},
  });
}

TEST_CASE("bad alignments are refused") {
  for (const uint32_t alignment : {0u, 1u, 4u, 12u, 33u, 1u << 17, 0x80000000u}) {
    check({"general.alignment", [=](GgufBuilder& b) { b.scalar("general.alignment", 4, alignment); }});
  }
  check({"general.alignment", [](GgufBuilder& b) { b.scalar("general.alignment", 5, -32); }});
  check({"general.alignment", [](GgufBuilder& b) { b.scalar("general.alignment", 10, ~0ull); }});
  check({"key 'general.alignment': a string", [](GgufBuilder& b) { b.text("general.alignment", "32"); }});
  check({"key 'general.alignment': a float", [](GgufBuilder& b) { b.scalar("general.alignment", 6, 32.f); }});
}

TEST_CASE("bad GGUF tensors are refused") {
  const auto add = [](const GgufBuilder::Tensor& t) { return [=](GgufBuilder& b) { b.tensor(t); }; };
  static const std::string long_name(65, 'n');
  check_all({
      {"a tensor name of 0 bytes", add({.name = ""})},
      {"a tensor name of 65 bytes", add({.name = long_name})},
      {"tensor name 'a?b'", add({.name = "a\tb"})},
      {"tensor 't': 0 dimensions", add({.dims = {}})},
      {"tensor 't': 5 dimensions", add({.dims = {1, 1, 1, 1, 1}})},
      {"tensor 't': 4294967295 dimensions", add({.dim_count = ~0u})},
      {"tensor 't': a dimension of 0", add({.dims = {4, 0}})},
      {"tensor 't': a dimension of 9223372036854775808", add({.dims = {kHuge}})},
      {"does not fit 63 bits", add({.dims = {kHuge >> 1, 4}})},
      {"does not fit 63 bits", add({.dims = {kHuge >> 2}})},
      {"does not fit 63 bits", add({.dims = {1u << 31, 1u << 31, 1u << 31, 1u << 31}})},
      {"does not fit 63 bits", add({.dims = {kHuge >> 1, 4}, .type = 2})},
      {"type number 4 is unknown", add({.type = 4}), kUnsupported},
      {"type number 1000 is unknown", add({.type = 1000}), kUnsupported},
      {"expected whole Q4_0 blocks of 32", add({.dims = {33}, .type = 2})},
      {"expected whole Q6_K blocks of 256", add({.dims = {128, 2}, .type = 14})},
      {"offset 16, expected a multiple of 32", add({.offset = 16})},
      {"the file holds 64 bytes of data", add({.offset = 64})},
      {"the file holds 64 bytes of data", add({.dims = {17}})},
      {"the file holds 64 bytes of data", add({.offset = ~0ull - 31})},
      {"the file holds 64 bytes of data", add({.offset = kHuge})},
      {"tensor 't': stored twice", [](GgufBuilder& b) { b.tensor({}).tensor({.offset = 32}); }},
      {"tensor 'u': overlaps tensor 't'",
       [](GgufBuilder& b) { b.tensor({.dims = {16}}).tensor({.name = "u", .offset = 32}); }},
      {"overlaps", [](GgufBuilder& b) { b.tensor({}).tensor({.name = "u"}); }},
  });
}

TEST_CASE("a GGUF file cut at any length is refused") {
  const std::vector<std::byte> bytes = valid_gguf().build();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // A copy of the exact size, so that a sanitizer sees the first byte read beyond it.
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(support::error_of([&] { parse_gguf(cut, "cut.gguf"); }).code == kBad);
  }
}

TEST_CASE("a GGUF file with any byte changed is read or refused") {
  const std::vector<std::byte> bytes = valid_gguf().build();
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::vector<std::byte> changed = bytes;
      changed[i] = static_cast<std::byte>(value);
      if (support::error_of([&] { parse_gguf(changed, "changed.gguf"); }).code) ++refused;
    }
  }
  CHECK(refused > 500);
}
