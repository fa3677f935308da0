#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "blocks/scalar.h"
#include "blocks/stored_tensor.h"
#include "paceline/error.h"

using namespace paceline;
using namespace paceline::blocks;

namespace {

std::span<const std::byte> bytes_of(const auto& values) { return std::as_bytes(std::span(values)); }

StoredTensor tensor_of(Encoding encoding, std::vector<int64_t> shape,
                       std::span<const std::byte> data) {
  return {.name = "x",
          .encoding = encoding,
          .shape = std::move(shape),
          .data = data,
          .groups = std::nullopt};
}

ErrorCode code_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(std::string_view(error.what()).starts_with("[blocks] tensor 'x': "));
    return error.code();
  }
  return ErrorCode::internal;
}

/// By the definition of binary16, in double.
double f16_reference(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE("rows of f32 are copied") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const StoredTensor tensor = tensor_of(Encoding::f32, {3, 2}, bytes_of(values));
  std::vector<float> out(4);
  decode_rows(tensor, 1, 2, out);
  CHECK(out == std::vector<float>{3, 4, 5, 6});
}

TEST_CASE("every f16 value is exact, with the sign of zero") {
  std::vector<uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  std::vector<float> out(halves.size());
  decode_rows(tensor_of(Encoding::f16, {65536}, bytes_of(halves)), 0, 1, out);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const bool special = (i & 0x7c00) == 0x7c00;
    if (special && (i & 0x3ff) != 0) REQUIRE(std::isnan(out[i]));
    if (special && (i & 0x3ff) == 0) REQUIRE(std::isinf(out[i]));
    if (!special) REQUIRE(static_cast<double>(out[i]) == f16_reference(halves[i]));
    REQUIRE(std::signbit(out[i]) == ((i & 0x8000) != 0));
  }
}

TEST_CASE("E4M3 and E8M0 codes have the values of their definition") {
  CHECK(e4m3_value(0) == 0.f);
  CHECK(e4m3_value(1) == 0x1p-9f);
  CHECK(e4m3_value(8) == 0x1p-6f);
  CHECK(e4m3_value(0x38) == 1.f);
  CHECK(e4m3_value(0xfe) == -448.f);
  CHECK(std::isnan(e4m3_value(0x7f)));
  CHECK(std::signbit(e4m3_value(0x80)));
  CHECK(e8m0_value(0) == 0x1p-127f);
  CHECK(e8m0_value(127) == 1.f);
  CHECK(e8m0_value(254) == 0x1p127f);
}

TEST_CASE("a row is the same alone and in any range") {
  std::vector<uint8_t> raw(6 * 144);
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<uint8_t>(i * 37 % 113);
  const StoredTensor tensor = tensor_of(Encoding::q4_k, {3, 512}, bytes_of(raw));
  std::vector<float> all(3 * 512), one(512);
  decode_rows(tensor, 0, 3, all);
  for (int row = 0; row < 3; ++row) {
    decode_rows(tensor, row, 1, one);
    CHECK(std::equal(one.begin(), one.end(), all.begin() + 512 * row));
  }
}

TEST_CASE("types that are only named are refused as unsupported") {
  const std::vector<std::byte> raw(256);
  std::vector<float> out(256);
  for (const Encoding encoding :
       {Encoding::f64, Encoding::i8, Encoding::iq2_xxs, Encoding::q8_1, Encoding::tq2_0}) {
    CHECK(code_of([&] { decode_rows(tensor_of(encoding, {256}, raw), 0, 1, out); }) ==
          ErrorCode::unsupported);
  }
}

TEST_CASE("ranges and sizes that do not fit are refused") {
  const std::vector<float> values(8);
  const StoredTensor tensor = tensor_of(Encoding::f32, {4, 2}, bytes_of(values));
  std::vector<float> out(2);
  const auto refused = [&](const StoredTensor& t, int64_t first, int64_t count) {
    return code_of([&] { decode_rows(t, first, count, out); }) == ErrorCode::invalid_argument;
  };
  CHECK(refused(tensor, -1, 1));
  CHECK(refused(tensor, 4, 1));
  CHECK(refused(tensor, 0, 2));
  CHECK(refused(tensor, 1, std::numeric_limits<int64_t>::max()));
  CHECK(refused(tensor_of(Encoding::f32, {4, 2}, bytes_of(values).first(28)), 0, 1));
  CHECK(refused(tensor_of(Encoding::q8_0, {16, 2}, bytes_of(values)), 0, 1));
}

TEST_CASE("affine groups are scale * code + bias, codes packed low bits first") {
  const std::vector<uint32_t> words = {0x76543210, 0xfedcba98, 0, 0xffffffff};
  const std::vector<float> scales = {0.5f}, biases = {-1.f};
  StoredTensor tensor = tensor_of(Encoding::mlx_affine, {1, 32}, bytes_of(words));
  tensor.groups = MlxGroups{4, 32, Encoding::f32, bytes_of(scales), bytes_of(biases)};
  std::vector<float> out(32);
  decode_rows(tensor, 0, 1, out);
  for (int j = 0; j < 16; ++j) CHECK(out[j] == 0.5f * static_cast<float>(j) - 1.f);
  CHECK(out[16] == -1.f);
  CHECK(out[31] == 6.5f);
}

TEST_CASE("MLX groups that contradict the shape are refused") {
  const std::vector<uint32_t> words(4);
  const std::vector<float> side(1);
  std::vector<float> out(32);
  const auto refused = [&](const MlxGroups& groups, Encoding mode) {
    StoredTensor tensor = tensor_of(mode, {1, 32}, bytes_of(words));
    tensor.groups = groups;
    return code_of([&] { decode_rows(tensor, 0, 1, out); }) == ErrorCode::invalid_argument;
  };
  const auto bytes = bytes_of(side);
  CHECK(refused({7, 32, Encoding::f32, bytes, bytes}, Encoding::mlx_affine));
  CHECK(refused({4, 16, Encoding::f32, bytes, bytes}, Encoding::mlx_affine));
  CHECK(refused({4, 64, Encoding::f32, bytes, bytes}, Encoding::mlx_affine));
  CHECK(refused({8, 32, Encoding::f32, bytes, bytes}, Encoding::mlx_affine));
  CHECK(refused({4, 32, Encoding::f32, bytes, {}}, Encoding::mlx_affine));
  CHECK(refused({4, 32, Encoding::i8, bytes, bytes}, Encoding::mlx_affine));
  CHECK(refused({4, 32, Encoding::u8, bytes, {}}, Encoding::mlx_mxfp4));
  CHECK(refused({4, 32, Encoding::f32, bytes, {}}, Encoding::mlx_mxfp4));
}

TEST_CASE("the encoding table names every encoding once") {
  for (int i = 0; i <= static_cast<int>(Encoding::q2_0); ++i) {
    const EncodingInfo& one = info(static_cast<Encoding>(i));
    CHECK_FALSE(one.name.empty());
    CHECK((one.block_values == 0) == is_mlx(static_cast<Encoding>(i)));
    for (int j = 0; j < i; ++j) CHECK(info(static_cast<Encoding>(j)).name != one.name);
  }
}
