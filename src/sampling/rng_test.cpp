#include "sampling/rng.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace paceline::sampling;

namespace {

struct Vector {
  uint64_t seed;
  int64_t position;
  int32_t id;
  uint32_t hash;
  uint64_t gumbel_bits;
};

// Never change these: every seeded answer depends on them.
constexpr Vector kVectors[] = {
    {0x0ULL, 0, 0, 0x20d450e4U, 0x3fffc6bb5a55a44dULL},
    {0x0ULL, 0, 1, 0x991d1cd4U, 0x3fb7b4fc4d6c8233ULL},
    {0x0ULL, 0, 2, 0x2d62c325U, 0x3ffa24d2b0bff232ULL},
    {0x0ULL, 0, 255, 0xf125ea71U, 0xbff0bd93b641f292ULL},
    {0x0ULL, 0, 151935, 0x8a04a918U, 0x3fd0579dd794f470ULL},
    {0x0ULL, 1, 255, 0x44ca046dU, 0x3ff2967a94d1f9ffULL},
    {0x0ULL, 511, 2, 0x03f0e06bU, 0x4010a9ffe27be62dULL},
    {0x0ULL, 100000, 1, 0x87426d13U, 0x3fd247ea18bd3016ULL},
    {0x1ULL, 0, 0, 0x8a9c25e2U, 0x3fcfdb397c932e9aULL},
    {0x1ULL, 0, 151935, 0x5d6bbeddU, 0x3fe944a678b7255bULL},
    {0x1ULL, 1, 255, 0x9ff6b543U, 0x3f9437580469ad5bULL},
    {0x1ULL, 511, 2, 0xc674f9e0U, 0xbfd9a2981743bab7ULL},
    {0x1ULL, 100000, 1, 0x43c08a0bU, 0x3ff2df6d5b9bd4a6ULL},
    {0x2aULL, 0, 0, 0xe8fcdf8dU, 0xbfec23053bae7278ULL},
    {0x2aULL, 0, 151935, 0x88a35738U, 0x3fd14f766a079bc7ULL},
    {0x2aULL, 1, 255, 0xd88ef908U, 0xbfe409421d1fd022ULL},
    {0x2aULL, 511, 2, 0xc0dd29a9U, 0xbfd5876a4ccca173ULL},
    {0x2aULL, 100000, 1, 0x0d84dd52U, 0x400750077c9fae6aULL},
    {0x123456789abcdef0ULL, 0, 0, 0xbdb73abeU, 0xbfd343c60e6c6d1eULL},
    {0x123456789abcdef0ULL, 0, 151935, 0xba402783U, 0xbfd0cdf638afb3c4ULL},
    {0x123456789abcdef0ULL, 1, 255, 0x1002bffbU, 0x4005eb1c1e02eb77ULL},
    {0x123456789abcdef0ULL, 511, 2, 0xc61bfd48U, 0xbfd9605a773e10f4ULL},
    {0x123456789abcdef0ULL, 100000, 1, 0xdf727d66U, 0xbfe7299b93f12c98ULL},
    {0xffffffffffffffffULL, 0, 0, 0x8530596eU, 0x3fd3bedeb2d69e92ULL},
    {0xffffffffffffffffULL, 0, 151935, 0x4327579eU, 0x3ff309ef78cc6f5cULL},
    {0xffffffffffffffffULL, 1, 255, 0x505b959dU, 0x3fef3d49725498ccULL},
    {0xffffffffffffffffULL, 511, 2, 0x4f75796eU, 0x3fefad0b7f043738ULL},
    {0xffffffffffffffffULL, 100000, 1, 0xeef8aa17U, 0xbfefe7d974fcd1f6ULL},
};

// Sum of (observed - expected)^2 / expected.
double chi_square(const std::vector<int>& counts, double expected) {
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// Mean + 5 standard deviations of the chi-square distribution: false alarms are below one in a
// million.
double limit(std::size_t cells) {
  const auto freedom = static_cast<double>(cells - 1);
  return freedom + 5 * std::sqrt(2 * freedom);
}

}  // namespace

TEST_CASE("rng matches its committed vectors") {
  for (const Vector& v : kVectors) {
    CAPTURE(v.seed);
    CAPTURE(v.position);
    CAPTURE(v.id);
    CHECK(hash32(v.seed, v.position, static_cast<uint32_t>(v.id)) == v.hash);
    CHECK(std::bit_cast<uint64_t>(gumbel(v.seed, v.position, v.id)) == v.gumbel_bits);
  }
}

TEST_CASE("rng derives the seeds of further choices") {
  CHECK(derive(42, 0) == 42);
  CHECK(derive(42, 1) == 0x131367e26140c7ULL);
  CHECK(derive(42, 2) == 0x521b697e4ae1bULL);
  CHECK(derive(~0ULL, 0) == ~0ULL);
  for (uint32_t i = 1; i < 1000; ++i) CHECK(derive(7, i) < (1ULL << 53));
}

TEST_CASE("rng noise equals its formula, falls with the hash and is finite at both ends") {
  double worst = 0;
  const auto check = [&](uint32_t hash) {
    const long double v = (hash + 0.5L) * 0x1p-32L;
    const long double exact = -std::log(-std::log1p(-v));
    worst = std::max(worst, static_cast<double>(std::fabs(exact - gumbel_of_hash(hash))));
  };
  double previous = 23;
  for (uint64_t hash = 0; hash < (1ULL << 32); hash += 40009) {
    check(static_cast<uint32_t>(hash));
    const double noise = gumbel_of_hash(static_cast<uint32_t>(hash));
    CHECK(noise < previous);
    previous = noise;
  }
  for (uint32_t i = 0; i < 1000; ++i) {
    check(i);
    check(~i);
  }
  CHECK(worst < 0x1p-48);  // the bound docs/sampling.md states
  CHECK(gumbel_of_hash(0) == doctest::Approx(22.8739).epsilon(1e-5));
  CHECK(gumbel_of_hash(~0U) == doctest::Approx(-3.1302).epsilon(1e-4));
}

TEST_CASE("rng fixed exp and log stay within their stated errors") {
  double exp_error = 0;
  for (int i = 0; i < 63000; ++i) {
    const auto f = static_cast<float>(i * -0.00137);
    exp_error = std::max(exp_error, std::abs(exp_fixed(f) / std::exp(static_cast<double>(f)) - 1));
  }
  CHECK(exp_error < 0x1p-23);
  CHECK(exp_fixed(0) == 1.0F);
  CHECK(exp_fixed(-INFINITY) > 0);
  CHECK(weight_fixed(0) == 1ULL << 40);
  CHECK(weight_fixed(kWeightFloor) == 0);
  CHECK(weight_fixed(-INFINITY) == 0);
  for (int i = 0; i < 20000; ++i) {
    const double x = 1e-11 * std::exp(i * 0.00137);
    CHECK(std::abs(log_fixed(x) - std::log(x)) <= 0x1p-51 + 0x1p-52 * std::abs(std::log(x)));
  }
}

TEST_CASE("rng hashes are uniform over ids and over positions") {
  MESSAGE("seeds 1, 2, 3");
  for (const uint64_t seed : {1, 2, 3}) {
    std::vector<int> by_id(4096);
    std::vector<int> by_position(4096);
    for (uint32_t i = 0; i < 1U << 18; ++i) {
      ++by_id[hash32(seed, 17, i) >> 20];
      ++by_position[hash32(seed, i, 17) >> 20];
    }
    CHECK(chi_square(by_id, 64) < limit(4096));
    CHECK(chi_square(by_position, 64) < limit(4096));
  }
}

TEST_CASE("rng hashes of ids, positions and seeds that differ in one bit are independent") {
  constexpr uint32_t kSamples = 1U << 16;
  const auto joint = [](auto&& x, auto&& y) {
    std::vector<int> cells(256);
    for (uint32_t i = 0; i < kSamples; ++i) ++cells[(x(i) >> 28) * 16 + (y(i) >> 28)];
    return chi_square(cells, kSamples / 256.0);
  };
  for (int bit = 0; bit < 18; ++bit) {
    CAPTURE(bit);
    const uint32_t flip = 1U << bit;
    const auto key = [](uint32_t i) { return draw_key(5, i); };
    CHECK(joint([&](uint32_t i) { return hash32(key(i), 1000); },
                [&](uint32_t i) { return hash32(key(i), 1000 ^ flip); }) < limit(256));
    CHECK(joint([](uint32_t i) { return hash32(9, 3, i); },
                [&](uint32_t i) { return hash32(9, 3 ^ flip, i); }) < limit(256));
    CHECK(joint([](uint32_t i) { return hash32(9, 3, i); },
                [&](uint32_t i) { return hash32(9 ^ flip, 3, i); }) < limit(256));
  }
}

TEST_CASE("rng winner of a flat row is uniform") {
  std::vector<int> wins(64);
  for (int64_t position = 0; position < 64000; ++position) {
    std::size_t best = 0;
    for (uint32_t id = 1; id < 64; ++id) {
      const DrawKey key = draw_key(11, position);
      if (hash32(key, id) < hash32(key, static_cast<uint32_t>(best))) best = id;
    }
    ++wins[best];
  }
  CHECK(chi_square(wins, 1000) < limit(64));
}
