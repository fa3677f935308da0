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

// Draws of a row of n ids that differ from the full search, over seeds 1..draws.
int wrong_draws(std::size_t n, uint64_t r, uint64_t draws) {
  const bool ties = r % 2 == 0;
  const std::vector<float> values = random_row(n, 100 + r, ties, static_cast<float>(r % 7));
  const LogitRow row(values, 0);
  const double t = std::array{0.01, 0.5, 1.0, 3.0}[r % 4];
  const Cut cut = r % 3 == 0 ? top_k_cut(row, 1 + r) : Cut{};
  int wrong = 0;
  for (uint64_t seed = 1; seed <= draws; ++seed) {
    const DrawKey key = draw_key(seed, static_cast<int64_t>(r));
    if (noisy_argmax(row, t, cut, key) != naive_draw(values, t, cut, key)) ++wrong;
  }
  return wrong;
}

std::vector<float> block_max(const BlockOps& ops, const std::vector<float>& values) {
  std::vector<float> best((values.size() + kBlock - 1) / kBlock);
  ops.scan(values, best.data());
  return best;
}

std::vector<float> column_max(const BlockOps& ops, const std::vector<float>& values) {
  std::vector<float> best(kColumns);
  ops.column_max(values, best.data());
  return best;
}

void check_weights(const BlockOps& plain, const BlockOps& wide, const std::vector<float>& values,
                   float t) {
  auto one = std::make_unique<Weighed>();
  auto two = std::make_unique<Weighed>();
  plain.weigh(values, 60, t, *one);
  wide.weigh(values, 60, t, *two);
  uint64_t sum = 0;
  for (std::size_t j = 0; j < values.size(); ++j) {
    CHECK(one->weight[j] == weight_fixed((values[j] - 60) / t));
    CHECK(one->weight[j] == two->weight[j]);
    CHECK(one->bucket[j] == two->bucket[j]);
    sum += one->weight[j];
  }
  const std::vector<float> best = block_max(plain, values);
  CHECK(plain.sum({values, best.data(), 60}, t) == sum);
  CHECK(wide.sum({values, best.data(), 60}, t) == sum);
}

void check_hashes(const BlockOps& plain, const BlockOps& wide, DrawKey key, uint32_t first) {
  Hashed one;
  Hashed two;
  plain.hash(key, first, one);
  wide.hash(key, first, two);
  CHECK(one.hash == two.hash);
  CHECK(one.least == two.least);
  CHECK(one.hash[7] == hash32(key, first + 7));
  for (std::size_t column = 0; column < kColumns; ++column) {
    uint32_t least = one.hash[column];
    for (std::size_t j = column; j < kBlock; j += kColumns) least = std::min(least, one.hash[j]);
    CHECK(one.least[column] == least);
  }
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

TEST_CASE("top-p reaches as deep as the row is flat") {
  for (const float spread : {0.0F, 0.3F, 1.5F, 6.0F, 30.0F}) {
    const std::vector<float> values = random_row(4000, 21, spread == 1.5F, spread);
    const LogitRow row(values, 0);
    for (const float p : {0.5F, 0.95F, 0.9999F, 1.0F}) {
      CAPTURE(spread);
      CAPTURE(p);
      const std::vector<TokenId> ids = kept(values, top_p_cut(row, p, 1, Cut{}));
      // Weights are integers, so near p = 1 the book's sum in double may end some ids later.
      if (p < 1) CHECK(ids == naive_top_p(values, p, 1, 4000));
      uint64_t sum = 0;
      for (const TokenId id : ids) sum += weight_fixed(values[id] - row.max());
      const auto share = static_cast<double>(sum) / static_cast<double>(total_weight(row, 1));
      CHECK(share >= static_cast<double>(p) - 1e-12);
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
  for (uint64_t r = 0; r < 100; ++r) CHECK(wrong_draws(1100, r, 1000) == 0);
}

TEST_CASE("a draw over a whole vocabulary equals the full search") {
  MESSAGE("row seeds 100..111, draw seeds 1..5");
  for (uint64_t r = 0; r < 12; ++r) CHECK(wrong_draws(151936, r, 5) == 0);
}

// Half a minute: run by test_sampling --no-skip.
TEST_CASE("a million draws that skip blocks equal the full search" * doctest::skip()) {
  MESSAGE("row seeds 100..1099, draw seeds 1..1000");
  for (uint64_t r = 0; r < 1000; ++r) CHECK(wrong_draws(600 + r, r, 1000) == 0);
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
  const BlockOps& plain = generic_block_ops();
  for (const BlockOps* wide : {avx2_block_ops(), avx512_block_ops()}) {
    if (wide == nullptr) {
      MESSAGE("skipped: no AVX2 or no AVX-512");
      continue;
    }
    for (uint64_t seed = 0; seed < 50; ++seed) {
      std::vector<float> values = random_row(1 + seed * 255 / 49, seed, false, 12);
      values[0] = -kInf;
      CHECK(block_max(*wide, values) == block_max(plain, values));
      CHECK(block_max(plain, values)[0] == *std::max_element(values.begin(), values.end()));
      CHECK(column_max(*wide, values) == column_max(plain, values));
      for (const float t : {0.3F, 1.0F, 7.0F}) check_weights(plain, *wide, values, t);
      check_hashes(plain, *wide, draw_key(seed, 3), static_cast<uint32_t>(seed * 256));
      values.back() = NAN;
      CHECK(block_max(plain, values)[0] == kInf);
      CHECK(block_max(*wide, values)[0] == kInf);
    }
  }
}

TEST_CASE("sums of weights round every weight like weight_fixed") {
  // Weights around every power of two, whose rounded part shrinks from none to all, and ties.
  std::vector<float> values;
  for (int i = 0; i < 40000; ++i) values.push_back(static_cast<float>(i) * -0.00078125F);
  for (const BlockOps* ops : {&generic_block_ops(), avx2_block_ops(), avx512_block_ops()}) {
    if (ops == nullptr) continue;
    int wrong = 0;
    uint64_t sum = 0;
    for (const float& x : values) {
      if (ops->sum({{&x, 1}, &x, 0}, 1) != weight_fixed(x)) ++wrong;
      sum += weight_fixed(x);
    }
    CHECK(wrong == 0);
    CHECK(ops->sum({values, block_max(*ops, values).data(), 0}, 1) == sum);
    const std::vector<float> most(kBlock, 3.0F);
    CHECK(ops->sum({most, most.data(), 3}, 0.1F) == kBlock << 40);
    CHECK(ops->sum({{}, nullptr, 3}, 0.1F) == 0);
  }
}
