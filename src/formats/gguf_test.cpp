#include "formats/gguf.h"

#include <doctest/doctest.h>

#include "support/error_of.h"
#include "support/gguf_builder.h"

using namespace paceline;
using namespace paceline::formats;
using blocks::Encoding;
using support::ByteWriter;
using support::GgufBuilder;
using support::valid_gguf;

TEST_CASE("every metadata type of a GGUF file is read") {
  const std::vector<std::byte> bytes = valid_gguf().build();
  const Metadata m = parse_gguf(bytes, "a.gguf").metadata;
  CHECK(m.string("general.architecture") == "llama");
  CHECK(m.integer("x.u8") == 200);
  CHECK(m.integer("x.i8") == -5);
  CHECK(m.integer("x.u16") == 60000);
  CHECK(m.integer("x.i16") == -300);
  CHECK(m.integer("x.u32") == 4000000000);
  CHECK(m.integer("x.i32") == -7);
  CHECK(m.number("x.f32") == 0.5);
  CHECK(m.boolean("x.bool") == true);
  CHECK(m.integer("x.i64") == -9);
  CHECK(m.number("x.f64") == 2.5);
  CHECK(*m.strings("x.tokens") == std::vector<std::string_view>{"<s>", "a", "\xff"});
  CHECK(m.integers("x.ints") == std::vector<int64_t>{1, -2, 3});
  CHECK(m.booleans("x.bools") == std::vector<bool>{true, false});
  CHECK(m.integers("x.empty")->empty());
}

TEST_CASE("tensors of a GGUF file have row-major shapes and their own bytes") {
  const std::vector<std::byte> bytes = valid_gguf().build();
  const GgufFile file = parse_gguf(bytes, "a.gguf");
  REQUIRE(file.tensors.size() == 3);
  const blocks::StoredTensor& a = file.tensors[0];
  CHECK(a.name == "a.weight");
  CHECK(a.encoding == Encoding::q4_0);
  CHECK(a.shape == std::vector<int64_t>{2, 32});
  CHECK(a.data.size() == 36);
  CHECK(file.tensors[1].data.data() == a.data.data() + 64);
  CHECK(file.tensors[2].encoding == Encoding::iq2_xxs);
  CHECK_FALSE(blocks::info(file.tensors[2].encoding).decodable);
}

TEST_CASE("a file of version 2 without tensors or keys is empty") {
  GgufBuilder b;
  b.version = 2;
  const std::vector<std::byte> bytes = b.build();
  const GgufFile file = parse_gguf(bytes, "a.gguf");
  CHECK(file.tensors.empty());
  CHECK(file.metadata.entries().empty());
}

TEST_CASE("known type numbers have the sizes of the format") {
  const std::pair<uint32_t, int> kBlockBytes[] = {
      {0, 4},    {1, 2},    {2, 18},   {3, 20},   {6, 22},   {7, 24},  {8, 34},  {9, 36},  {10, 84},
      {11, 110}, {12, 144}, {13, 176}, {14, 210}, {15, 292}, {16, 66}, {17, 74}, {18, 98}, {19, 50},
      {20, 18},  {21, 110}, {22, 82},  {23, 136}, {24, 1},   {25, 2},  {26, 4},  {27, 8},  {28, 8},
      {29, 56},  {30, 2},   {34, 54},  {35, 66},  {39, 17},  {40, 36}, {41, 18}, {42, 18}};
  for (const auto& [type, bytes] : kBlockBytes) {
    CAPTURE(type);
    REQUIRE(gguf_encoding(type));
    CHECK(blocks::info(*gguf_encoding(type)).block_bytes == bytes);
  }
  for (const uint32_t type : {4u, 5u, 31u, 33u, 36u, 38u, 43u, 255u, 0xffffffffu}) CHECK_FALSE(gguf_encoding(type));
}

TEST_CASE("split names are recognised by their form") {
  const auto name = parse_split_name("my-model-00002-of-00003.gguf");
  REQUIRE(name);
  CHECK(name->stem == "my-model");
  CHECK(name->number == 2);
  CHECK(name->count == 3);
  for (const char* other : {"model.gguf", "-00001-of-00002.gguf", "m-0001-of-00002.gguf", "m-00003-of-00002.gguf",
                            "m-00000-of-00002.gguf", "m-00001-of-00002.safetensors", "m-0000a-of-00002.gguf"}) {
    CHECK_FALSE(parse_split_name(other));
  }
}

TEST_CASE("metadata of another kind is refused by key") {
  const std::vector<std::byte> bytes = valid_gguf().build();
  const Metadata m = parse_gguf(bytes, "a.gguf").metadata;
  const auto refused = [](const auto& call) {
    const support::Failure failure = support::error_of(call);
    return failure.code == ErrorCode::bad_checkpoint && failure.text.starts_with("[metadata] key 'x.");
  };
  CHECK(refused([&] { m.integer("x.f32"); }));
  CHECK(refused([&] { m.integer("x.u64"); }));
  CHECK(refused([&] { m.integer("x.bool"); }));
  CHECK(refused([&] { m.string("x.u8"); }));
  CHECK(refused([&] { m.number("x.tokens"); }));
  CHECK(refused([&] { m.strings("x.ints"); }));
  CHECK(refused([&] { m.integers("x.bools"); }));
  CHECK(refused([&] { m.numbers("x.tokens"); }));
  CHECK(refused([&] { m.booleans("x.ints"); }));
  CHECK(m.integer("absent") == std::nullopt);
  CHECK(m.strings("absent") == nullptr);
  CHECK(m.integers("x.u8") == std::vector<int64_t>{200});
  CHECK(m.numbers("x.ints") == std::vector<double>{1, -2, 3});
}
