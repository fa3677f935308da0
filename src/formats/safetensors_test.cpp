#include "formats/safetensors.h"

#include <doctest/doctest.h>

#include "support/allocation_probe.h"
#include "support/error_of.h"
#include "support/safetensors_builder.h"

using namespace paceline;
using namespace paceline::formats;
using blocks::Encoding;
using support::raw_safetensors;

namespace {

struct Case {
  const char* text;  ///< a part of the message
  std::string header;
  std::size_t data_bytes = 8;
  ErrorCode code = ErrorCode::bad_checkpoint;
};

void check_refused(const std::vector<std::byte>& bytes, const char* text, ErrorCode code) {
  CAPTURE(text);
  const support::AllocationProbe memory;
  const support::Failure failure = support::error_of([&] { parse_safetensors(bytes, "bad.safetensors"); });
  CHECK(memory.bytes() < 64 * bytes.size() + (64 << 10));
  CHECK(failure.code == code);
  CHECK_MESSAGE(failure.text.find(text) != std::string::npos, failure.text);
  CHECK_MESSAGE(failure.text.starts_with("[safetensors] bad.safetensors: "), failure.text);
}

/// One tensor "t" with the given members.
std::string entry(const std::string& members) { return "{\"t\":{" + members + "}}"; }

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return entry("\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets);
}

}  // namespace

TEST_CASE("tensors of a safetensors file have names, types, shapes and bytes") {
  const std::string header =
      R"({"__metadata__":{"format":"mlx"},"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
      R"("a.weight":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"e":{"dtype":"U8","shape":[0,7],"data_offsets":[4,4]}}   )";
  const std::vector<std::byte> bytes = raw_safetensors(header, 16);
  const SafetensorsFile file = parse_safetensors(bytes, "a.safetensors");
  CHECK(file.metadata.at("format") == "mlx");
  REQUIRE(file.tensors.size() == 3);
  CHECK(file.tensors[0].name == "a.weight");
  CHECK(file.tensors[0].values() == 1);
  CHECK(file.tensors[1].encoding == Encoding::bf16);
  CHECK(file.tensors[1].shape == std::vector<int64_t>{2, 3});
  CHECK(file.tensors[1].data.data() == file.tensors[0].data.data() + 4);
  CHECK(file.tensors[2].values() == 0);
}

TEST_CASE("an empty safetensors file has no tensors") {
  const std::vector<std::byte> bytes = raw_safetensors("{}", 0);
  CHECK(parse_safetensors(bytes, "a.safetensors").tensors.empty());
}

TEST_CASE("bad safetensors headers are refused") {
  const Case cases[] = {
      {"does not begin with '{'", " {}", 0},
      {"does not begin with '{'", "[]", 0},
      {"malformed JSON", "{\"a\":", 0},
      {"malformed JSON", "{} {}", 0},
      {"malformed JSON", "{}x", 0},
      {"malformed JSON", "{\"\xff\":1}", 0},
      {"malformed JSON", std::string("{}\0", 3), 0},
      {"malformed JSON", "{\"a\":1e999}", 0},
      {"key 't': stored twice", R"({"t":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"t":{}})", 4},
      {"key 'dtype': stored twice", entry(R"("dtype":"U8","dtype":"U8","shape":[8],"data_offsets":[0,8])")},
      {"nested deeper", "{\"a\":{\"b\":[[1]]}}", 0},
      {"__metadata__ is of type", R"({"__metadata__":[]})", 0},
      {"__metadata__ key 'a': expected a string", R"({"__metadata__":{"a":1}})", 0},
  };
  for (const Case& one : cases) check_refused(raw_safetensors(one.header, one.data_bytes), one.text, one.code);
  const auto bad = ErrorCode::bad_checkpoint;
  check_refused({}, "ends inside the header's length", bad);
  check_refused(support::ByteWriter().fill(7).bytes(), "ends inside the header's length", bad);
  check_refused(raw_safetensors("", 0, 0), "a header of 0 bytes", bad);
  check_refused(raw_safetensors("{}", 0, 3), "ends inside the header", bad);
  check_refused(raw_safetensors("{}", 0, 100'000'001), "a header of 100000001 bytes", bad);
  check_refused(raw_safetensors("{}", 0, uint64_t{1} << 63), "a header of 9223372036854775808 bytes", bad);
  check_refused(raw_safetensors("{}", 0, ~0ull), "a header of 18446744073709551615 bytes", bad);
  check_refused(raw_safetensors("{" + std::string(1 << 20, '[') + "}", 0), "malformed JSON", bad);
  check_refused(raw_safetensors("{\"a\":" + std::string(1 << 20, '['), 0), "nested deeper", bad);
}

TEST_CASE("bad safetensors entries are refused") {
  const Case cases[] = {
      {"expected exactly dtype, shape and data_offsets", R"({"t":7})", 0},
      {"expected exactly dtype, shape and data_offsets", entry(R"("dtype":"U8","shape":[8])")},
      {"expected exactly", entry(R"("dtype":"U8","shape":[8],"data_offsets":[0,8],"extra":1)")},
      {"no 'data_offsets'", entry(R"("dtype":"U8","shape":[8],"offsets":[0,8])")},
      {"dtype 'Q9' is unknown", entry("Q9", "[8]", "[0,8]"), 8, ErrorCode::unsupported},
      {"'dtype' is of type number", entry(R"("dtype":1,"shape":[8],"data_offsets":[0,8])")},
      {"'shape' is of type string", entry("U8", "\"8\"", "[0,8]")},
      {"shape: found '-8'", entry("U8", "[-8]", "[0,8]")},
      {"shape: found '8.0'", entry("U8", "[8.0]", "[0,8]")},
      {"shape: found '9007199254740993'", entry("U8", "[9007199254740993]", "[0,8]")},
      {"shape: found 'null'", entry("U8", "[null]", "[0,8]")},
      {"17 dimensions", entry("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,8]", "[0,8]")},
      {"does not fit 63 bits", entry("U8", "[4294967296,4294967296]", "[0,8]")},
      {"does not fit 63 bits", entry("F64", "[4294967296,1073741824]", "[0,8]")},
      {"run backwards", entry("U8", "[8]", "[8,0]")},
      {"expected begin and end", entry("U8", "[8]", "[0]")},
      {"expected begin and end", entry("U8", "[8]", "[0,4,8]")},
      {"data_offsets: found '-1'", entry("U8", "[8]", "[-1,8]")},
      {"the file holds 8 bytes of data", entry("U8", "[9]", "[0,9]")},
      {"the file holds 8 bytes of data", entry("U8", "[8]", "[9007199254740984,9007199254740992]")},
      {"expected 16 bytes by dtype and shape", entry("F16", "[8]", "[0,8]")},
      {"leaves a hole", entry("U8", "[4]", "[4,8]")},
      {"the tensors end at byte 4", entry("U8", "[4]", "[0,4]")},
      {"the tensors end at byte 0", "{}", 8},
      {"overlaps",
       R"({"a":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})"},
      {"overlaps",
       R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})"},
  };
  for (const Case& one : cases) check_refused(raw_safetensors(one.header, one.data_bytes), one.text, one.code);
}

TEST_CASE("a safetensors file cut anywhere is refused, with any byte changed it is read or refused") {
  support::SafetensorsBuilder b;
  const std::vector<std::byte> bytes = b.tensor("a", "F32", "[2,2]", 16).tensor("b", "U8", "[3]", 3).build();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(support::error_of([&] { parse_safetensors(cut, "cut"); }).code == ErrorCode::bad_checkpoint);
  }
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size() - 19; ++i) {
    for (int value = 0; value < 256; value += 5) {
      std::vector<std::byte> changed = bytes;
      changed[i] = static_cast<std::byte>(value);
      if (support::error_of([&] { parse_safetensors(changed, "changed"); }).code) ++refused;
    }
  }
  CHECK(refused > 1000);
}
