#include "kernels/kv_codec.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace paceline::kernels;

namespace {

uint16_t encoded(float x, KvEncoding encoding) {
  uint16_t code = 0;
  kv_encode(&x, 1, encoding, reinterpret_cast<std::byte*>(&code));
  return code;
}

float decoded(uint16_t code, KvEncoding encoding) {
  float x = 0.0F;
  kv_decode(reinterpret_cast<const std::byte*>(&code), 1, encoding, &x);
  return x;
}

/// Half way between the numbers of two adjacent codes; f16 needs 12 bits, so it is exact.
void check_midpoint(uint16_t low, KvEncoding encoding) {
  const float a = decoded(low, encoding), b = decoded(static_cast<uint16_t>(low + 1), encoding);
  const float middle = a / 2 + b / 2;
  const auto even = static_cast<uint16_t>(low + (low & 1));
  REQUIRE(encoded(middle, encoding) == even);
  REQUIRE(encoded(std::nextafter(middle, a), encoding) == low);
  REQUIRE(encoded(std::nextafter(middle, b), encoding) == low + 1);
  REQUIRE(encoded(-middle, encoding) == (even | 0x8000));
}

}  // namespace

TEST_CASE("every f16 and bf16 code is what its number is stored as") {
  for (const KvEncoding encoding : {KvEncoding::f16, KvEncoding::bf16}) {
    for (int code = 0; code < 0x10000; ++code) {
      const float x = decoded(static_cast<uint16_t>(code), encoding);
      const uint16_t again = encoded(x, encoding);
      if (std::isnan(x)) {
        REQUIRE(std::isnan(decoded(again, encoding)));
      } else {
        REQUIRE(again == code);
      }
    }
  }
}

TEST_CASE("f16 rounds to nearest, ties to even, subnormals included") {
  for (int code = 0; code < 0x7bff; ++code) {
    check_midpoint(static_cast<uint16_t>(code), KvEncoding::f16);
  }
  CHECK(decoded(0x0001, KvEncoding::f16) == std::ldexp(1.0F, -24));
  CHECK(decoded(0x7bff, KvEncoding::f16) == 65504.0F);
  CHECK(encoded(65519.996F, KvEncoding::f16) == 0x7bff);
  CHECK(encoded(65520.0F, KvEncoding::f16) == 0x7c00);
  CHECK(encoded(1e-40F, KvEncoding::f16) == 0);
  CHECK(encoded(-1e-40F, KvEncoding::f16) == 0x8000);
  CHECK(encoded(-std::numeric_limits<float>::infinity(), KvEncoding::f16) == 0xfc00);
}
