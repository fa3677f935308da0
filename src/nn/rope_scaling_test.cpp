#include "nn/rope_scaling.h"

#include <doctest/doctest.h>

#include <cmath>

using paceline::nn::make_rope;
using paceline::nn::RopeConfig;
using paceline::nn::RopeKind;

TEST_CASE("rope default frequencies are powers of the base") {
  const auto spec = make_rope({.dims = 8, .base = 10000.0});
  REQUIRE(spec->inverse_frequencies.size() == 4);
  CHECK(spec->inverse_frequencies[0] == 1.0F);
  CHECK(spec->inverse_frequencies[1] == doctest::Approx(0.1));
  CHECK(spec->inverse_frequencies[3] == doctest::Approx(0.001));
  CHECK(spec->magnitude == 1.0F);
}

TEST_CASE("rope linear scaling divides every frequency") {
  const auto spec = make_rope({.dims = 4, .base = 100.0, .kind = RopeKind::linear, .factor = 4.0});
  CHECK(spec->inverse_frequencies[0] == doctest::Approx(0.25));
  CHECK(spec->inverse_frequencies[1] == doctest::Approx(0.025));
}

TEST_CASE("rope banded scaling keeps short and stretches long wavelengths") {
  const RopeConfig config{.dims = 128,
                          .base = 500000.0,
                          .kind = RopeKind::banded,
                          .factor = 8.0,
                          .original_context = 8192.0};
  const auto scaled = make_rope(config);
  const auto plain = make_rope({.dims = 128, .base = 500000.0});
  CHECK(scaled->inverse_frequencies[0] == plain->inverse_frequencies[0]);
  CHECK(scaled->inverse_frequencies[63] == doctest::Approx(plain->inverse_frequencies[63] / 8.0));
  bool between = false;
  for (size_t i = 0; i < 64; ++i) {
    const float ratio = scaled->inverse_frequencies[i] / plain->inverse_frequencies[i];
    CHECK(ratio <= 1.0F);
    CHECK(ratio >= 0.1249F);
    between = between || (ratio > 0.13F && ratio < 0.99F);
  }
  CHECK(between);
}

TEST_CASE("rope yarn mixes frequencies and raises the magnitude") {
  const auto spec = make_rope({.dims = 64,
                               .base = 10000.0,
                               .kind = RopeKind::yarn,
                               .factor = 4.0,
                               .original_context = 4096.0});
  const auto plain = make_rope({.dims = 64, .base = 10000.0});
  CHECK(spec->inverse_frequencies[0] == doctest::Approx(plain->inverse_frequencies[0]));
  CHECK(spec->inverse_frequencies[31] == doctest::Approx(plain->inverse_frequencies[31] / 4.0));
  CHECK(spec->magnitude == doctest::Approx(0.1 * std::log(4.0) + 1.0));
}

TEST_CASE("rope divisors divide frequencies") {
  const auto spec = make_rope({.dims = 4, .base = 100.0, .divisors = {2.0, 5.0}});
  CHECK(spec->inverse_frequencies[0] == doctest::Approx(0.5));
  CHECK(spec->inverse_frequencies[1] == doctest::Approx(0.02));
}
