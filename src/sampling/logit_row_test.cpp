#include "sampling/logit_row.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "paceline/error.h"
#include "sampling/block_ops.h"
#include "sampling/fixed_math.h"
#include "sampling/noisy_argmax.h"

using namespace paceline;
using namespace paceline::sampling;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Rounded to quarters on request, so that ties are common.
std::vector<float> random_row(std::size_t n, uint64_t seed, bool ties, float spread = 4) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> row(n);
  for (float& x : row) x = ties ? std::round(normal(rng) * 4) / 4 : normal(rng);
  return row;
}

std::vector<TokenId> sorted_ids(const std::vector<float>& row) {
  std::vector<TokenId> ids(row.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) { return row[a] > row[b]; });
  return ids;
}

std::vector<TokenId> kept(const std::vector<float>& row, const Cut& cut) {
  std::vector<TokenId> ids;
  for (const TokenId id : sorted_ids(row)) {
    if (cut.keeps({row[id], id})) ids.push_back(id);
  }
  return ids;
}

std::vector<TokenId> head(std::vector<TokenId> ids, std::size_t n) {
  ids.resize(std::min(n, ids.size()));
  return ids;
}

// Top-p by the book: sort, add up, stop.
std::vector<TokenId> naive_top_p(const std::vector<float>& row, double p, double t, std::size_t k) {
  std::vector<TokenId> ids = head(sorted_ids(row), k);
  const auto weight = [&](TokenId id) { return std::exp((row[id] - row[ids[0]]) / t); };
  double total = 0;
  for (const TokenId id : ids) total += weight(id);
  double sum = 0;
  for (std::size_t n = 0; n < ids.size(); ++n) {
    sum += weight(ids[n]);
    if (sum >= p * total) return head(ids, n + 1);
  }
  return ids;
}

TokenId naive_draw(const std::vector<float>& row, double t, const Cut& cut, DrawKey key) {
  double best = -std::numeric_limits<double>::infinity();
  TokenId best_id = -1;
  for (TokenId id = 0; id < static_cast<TokenId>(row.size()); ++id) {
    if (!cut.keeps({row[id], id})) continue;
    const double score = row[id] / t + gumbel_of_hash(hash32(key, static_cast<uint32_t>(id)));
    if (score > best) {
      best = score;
      best_id = id;
    }
  }
  return best_id;
}

}  // namespace

TEST_CASE("logit row finds the maximum and the lowest id that has it") {
  std::vector<float> values(1000, -kInf);
  values[700] = 3;
  values[701] = 3;
  const LogitRow row(values, 0);
  CHECK(row.max() == 3);
  CHECK(row.argmax() == 700);
  const std::vector<float> zeros{-0.0F, 0.0F};
  CHECK(LogitRow(zeros, 0).argmax() == 0);
}

TEST_CASE("logit row refuses NaN, infinity and rows without a finite logit by position") {
  for (const std::size_t n : {1UL, 16UL, 17UL, 300UL}) {
    for (const float bad : {NAN, -NAN, kInf}) {
      for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
        std::vector<float> values(n, 1);
        values[at] = bad;
        CHECK_THROWS_WITH_AS(LogitRow(values, 41), doctest::Contains("position 41"), Error);
      }
    }
    const std::vector<float> none(n, -kInf);
    CHECK_THROWS_WITH_AS(LogitRow(none, 7), doctest::Contains("no token that may be drawn"), Error);
  }
  CHECK_THROWS_AS(LogitRow({}, 0), Error);
}

TEST_CASE("top-k keeps the k first ids, ties by id") {
  for (const bool ties : {false, true}) {
    const std::vector<float> values = random_row(5000, 3, ties);
    const LogitRow row(values, 0);
    for (const std::size_t k : {1UL, 2UL, 7UL, 19UL, 20UL, 21UL, 300UL, 4999UL, 5000UL, 9000UL}) {
      CAPTURE(k);
      CHECK(kept(values, top_k_cut(row, k)) == head(sorted_ids(values), k));
      CHECK(best_ids(row, k) == head(sorted_ids(values), k));
    }
  }
}

TEST_CASE("top-k never keeps what is masked") {
  std::vector<float> values(600, -kInf);
  values[5] = 1;
  values[599] = 2;
  const LogitRow row(values, 0);
  CHECK(kept(values, top_k_cut(row, 10)) == std::vector<TokenId>{599, 5});
  CHECK(kept(values, top_k_cut(row, 600)) == std::vector<TokenId>{599, 5});
  CHECK(best_ids(row, 5) == std::vector<TokenId>{599, 5});
  CHECK(best_ids(row, 0).empty());
}

TEST_CASE("top-p keeps the shortest prefix that reaches p") {
  for (const bool ties : {false, true}) {
    for (const float t : {0.1F, 1.0F, 5.0F, 100.0F}) {
      const std::vector<float> values = random_row(3000, 5, ties);
      const LogitRow row(values, 0);
      for (const float p : {0.01F, 0.3F, 0.777F, 0.95F, 0.999F}) {
        CAPTURE(t);
        CAPTURE(p);
        CHECK(kept(values, top_p_cut(row, p, t, Cut{})) == naive_top_p(values, p, t, 3000));
        CHECK(kept(values, top_p_cut(row, p, t, top_k_cut(row, 50))) ==
              naive_top_p(values, p, t, 50));
      }
    }
  }
}

TEST_CASE("top-p on ties and limits") {
  const std::vector<float> flat(4, 0.5F);
  const LogitRow row(flat, 0);
  CHECK(kept(flat, top_p_cut(row, 0.5F, 1, Cut{})) == std::vector<TokenId>{0, 1});
  CHECK(kept(flat, top_p_cut(row, 0.51F, 1, Cut{})) == std::vector<TokenId>{0, 1, 2});
  CHECK(kept(flat, top_p_cut(row, 1e-30F, 1, Cut{})) == std::vector<TokenId>{0});
  CHECK(kept(flat, top_p_cut(row, 1.0F, 1, Cut{})) == std::vector<TokenId>{0, 1, 2, 3});
  const std::vector<float> huge{3e38F, -3e38F, -kInf};
  CHECK(kept(huge, top_p_cut(LogitRow(huge, 0), 0.99F, 1e-38F, Cut{})) == std::vector<TokenId>{0});
}

TEST_CASE("min-p keeps what has at least that share of the best") {
  const std::vector<float> values{0, std::log(0.5F), std::log(0.25F), std::log(0.1F)};
  const LogitRow row(values, 0);
  CHECK(kept(values, min_p_cut(row, 0.3F, 1)) == std::vector<TokenId>{0, 1});
  CHECK(kept(values, min_p_cut(row, 0.24F, 1)) == std::vector<TokenId>{0, 1, 2});
  CHECK(kept(values, min_p_cut(row, 0.24F, 2)) == std::vector<TokenId>{0, 1, 2, 3});
  CHECK(kept(values, min_p_cut(row, 1.0F, 1)) == std::vector<TokenId>{0});
  CHECK(kept(values, min_p_cut(row, 1e-45F, 1)).size() == 4);
  CHECK(kept(values, min_p_cut(row, 0.5F, 1e38F)).size() == 4);
}

TEST_CASE("a draw that skips blocks equals the full search") {
  MESSAGE("row seeds 100..199, draw seeds 1..1000");
  for (uint64_t r = 0; r < 100; ++r) {
    const bool ties = r % 2 == 0;
    const std::vector<float> values = random_row(1100, 100 + r, ties, static_cast<float>(r % 7));
    const LogitRow row(values, 0);
    const double t = std::array{0.01, 0.5, 1.0, 3.0}[r % 4];
    const Cut cut = r % 3 == 0 ? top_k_cut(row, 1 + r) : Cut{};
    int wrong = 0;
    for (uint64_t seed = 1; seed <= 1000; ++seed) {
      const DrawKey key = draw_key(seed, static_cast<int64_t>(r));
      if (noisy_argmax(row, t, cut, key) != naive_draw(values, t, cut, key)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("draw under extreme logits and temperatures stays in the support") {
  const std::vector<float> values{-3e38F, 3e38F, -kInf, 0};
  const LogitRow row(values, 0);
  for (const double t : {1e-38, 1e-3, 1.0, 1e30}) {
    CHECK(noisy_argmax(row, t, Cut{}, draw_key(1, 2)) == 1);
  }
  const std::vector<float> masked{-kInf, -5, -kInf};
  CHECK(noisy_argmax(LogitRow(masked, 0), 1, Cut{}, draw_key(1, 2)) == 1);
}

TEST_CASE("every instruction set gives the same blocks") {
  const BlockOps* wide = avx2_block_ops();
  if (wide == nullptr) {
    MESSAGE("skipped: no AVX2");
    return;
  }
  const BlockOps& plain = generic_block_ops();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<float> values = random_row(1 + seed * 255 / 49, seed, false, 12);
    values[0] = -kInf;
    const BlockScan scan = plain.scan(values);
    CHECK(wide->scan(values).max == scan.max);
    for (const float t : {0.3F, 1.0F, 7.0F}) {
      auto one = std::make_unique<Weighed>();
      auto two = std::make_unique<Weighed>();
      plain.weigh(values, 60, t, *one);
      wide->weigh(values, 60, t, *two);
      for (std::size_t j = 0; j < values.size(); ++j) {
        CHECK(one->weight[j] == weight_fixed((values[j] - 60) / t));
        CHECK(one->weight[j] == two->weight[j]);
        CHECK(one->bucket[j] == two->bucket[j]);
      }
    }
    std::array<uint32_t, kBlock> one;
    std::array<uint32_t, kBlock> two;
    const DrawKey key = draw_key(seed, 3);
    plain.hash(key, static_cast<uint32_t>(seed * 256), one.data());
    wide->hash(key, static_cast<uint32_t>(seed * 256), two.data());
    CHECK(one == two);
    CHECK(one[7] == hash32(seed, 3, static_cast<uint32_t>(seed * 256 + 7)));
    values.back() = NAN;
    CHECK(plain.scan(values).bad);
    CHECK(wide->scan(values).bad);
  }
}
