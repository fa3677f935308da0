#include "sampling/row_sampler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "paceline/error.h"
#include "sampling/rng.h"

using namespace paceline;
using namespace paceline::sampling;

namespace {

SamplingOptions greedy() {
  SamplingOptions options;
  options.temperature = 0;
  return options;
}

SamplingOptions open() {
  SamplingOptions options;
  options.temperature = 1;
  options.top_p = 1;
  return options;
}

TokenId draw(const SamplingOptions& options, const std::vector<float>& logits,
             const std::vector<TokenId>& prompt = {}, int64_t position = 0) {
  return RowSampler(options, 1, prompt).draw(logits, position).id;
}

std::vector<float> random_row(std::size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> row(n);
  for (float& x : row) x = normal(rng);
  return row;
}

// The whole sampler written as its definition.
TokenId naive(const SamplingOptions& o, std::vector<float> l, const std::vector<TokenId>& prompt,
              uint64_t seed, int64_t position) {
  for (const auto& [id, bias] : o.logit_bias) l[id] += bias;
  const std::size_t window = o.penalty_window < 0 ? prompt.size() : o.penalty_window;
  std::map<TokenId, int> counts;
  for (std::size_t i = prompt.size() - std::min(window, prompt.size()); i < prompt.size(); ++i) {
    ++counts[prompt[i]];
  }
  for (const auto& [id, count] : counts) {
    l[id] = l[id] < 0 ? l[id] * o.repeat_penalty : l[id] / o.repeat_penalty;
    l[id] -= o.presence_penalty;
    l[id] -= o.frequency_penalty * static_cast<float>(count);
  }
  std::vector<TokenId> ids(l.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) { return l[a] > l[b]; });
  if (o.temperature == 0) return ids[0];
  if (o.top_k > 0) ids.resize(std::min<std::size_t>(o.top_k, ids.size()));
  const auto weight = [&](TokenId id) { return std::exp((l[id] - l[ids[0]]) / o.temperature); };
  double total = 0;
  for (const TokenId id : ids) total += weight(id);
  double sum = 0;
  std::size_t n = 0;
  while (n < ids.size() && sum < o.top_p * total) sum += weight(ids[n++]);
  ids.resize(n);
  std::erase_if(ids, [&](TokenId id) { return weight(id) < o.min_p; });
  const auto score = [&](TokenId id) {
    return l[id] / static_cast<double>(o.temperature) + gumbel(seed, position, id);
  };
  return *std::max_element(ids.begin(), ids.end(),
                           [&](TokenId a, TokenId b) { return score(a) < score(b); });
}

}  // namespace

TEST_CASE("sampler at temperature zero takes the best, ties to the lowest id") {
  CHECK(draw(greedy(), {1, 3, 2}) == 1);
  CHECK(draw(greedy(), {1, 3, 3}) == 1);
  CHECK(draw(greedy(), {-INFINITY, -INFINITY, -7}) == 2);
  SamplingOptions options = greedy();
  options.top_k = 1;
  options.top_p = 0.1F;
  options.min_p = 1;
  CHECK(draw(options, {1, 3, 2}) == 1);
}

TEST_CASE("sampler adds the logit bias before anything else") {
  SamplingOptions options = greedy();
  options.logit_bias = {{0, 2.5F}, {1, -100.0F}};
  CHECK(draw(options, {1, 3, 2}) == 0);
  // Bias first, then the penalty of the biased value: -1 + 3 = 2, 2 / 4 = 0.5 < 1.
  options.logit_bias = {{0, 3.0F}};
  options.repeat_penalty = 4;
  CHECK(draw(options, {-1, 1}, {0}) == 1);
  CHECK(draw(options, {-1, 0.4F}, {0}) == 0);
}

TEST_CASE("sampler repeat penalty divides positive and multiplies negative logits, once") {
  SamplingOptions options = greedy();
  options.repeat_penalty = 2;
  CHECK(draw(options, {3, 1.6F}, {0, 0, 0}) == 1);
  CHECK(draw(options, {3, 1.4F}, {0, 0, 0}) == 0);
  CHECK(draw(options, {-1, -1.9F}, {0}) == 1);
  CHECK(draw(options, {-1, -2.1F}, {0}) == 0);
}

TEST_CASE("sampler presence penalty counts once, frequency penalty per occurrence") {
  SamplingOptions presence = greedy();
  presence.presence_penalty = 1;
  CHECK(draw(presence, {3, 1.9F}, {0, 0, 0}) == 0);
  CHECK(draw(presence, {3, 2.1F}, {0}) == 1);
  SamplingOptions frequency = greedy();
  frequency.frequency_penalty = 0.5F;
  CHECK(draw(frequency, {3, 2.1F}, {0}) == 0);
  CHECK(draw(frequency, {3, 2.1F}, {0, 0}) == 1);
  frequency.frequency_penalty = -0.5F;
  CHECK(draw(frequency, {3, 2.1F}, {1, 1}) == 1);
}

TEST_CASE("sampler penalties see the window, prompt and answer alike") {
  SamplingOptions options = greedy();
  options.presence_penalty = 2;
  options.penalty_window = 2;
  CHECK(draw(options, {3, 2, 0}, {0, 2, 2}) == 0);
  CHECK(draw(options, {3, 2, 0}, {2, 0, 2}) == 1);
  options.penalty_window = -1;
  CHECK(draw(options, {3, 2, 0}, {0, 2, 2}) == 1);
  options.penalty_window = 0;
  CHECK(draw(options, {3, 2, 0}, {2, 0, 0}) == 0);

  options.penalty_window = 2;
  RowSampler sampler(options, 1, {});
  const std::vector<float> logits{3, 2, 0};
  CHECK(sampler.draw(logits, 0).id == 0);
  sampler.accept(0);
  CHECK(sampler.draw(logits, 1).id == 1);
  sampler.accept(2);
  sampler.accept(2);
  CHECK(sampler.draw(logits, 3).id == 0);
}

TEST_CASE("sampler ignores history ids beyond the row") {
  SamplingOptions options = greedy();
  options.presence_penalty = 2;
  CHECK(draw(options, {3, 2}, {7, 9}) == 0);
}

TEST_CASE("sampler copies are independent") {
  SamplingOptions options = greedy();
  options.presence_penalty = 2;
  RowSampler original(options, 1, {});
  RowSampler copy = original;
  copy.accept(0);
  const std::vector<float> logits{3, 2};
  CHECK(original.draw(logits, 0).id == 0);
  CHECK(copy.draw(logits, 0).id == 1);
}

TEST_CASE("sampler equals its definition with every option on") {
  MESSAGE("row seeds 0..199");
  for (uint64_t r = 0; r < 200; ++r) {
    CAPTURE(r);
    const std::vector<float> logits = random_row(900, r);
    std::vector<TokenId> prompt;
    prompt.reserve(100);
    for (uint64_t i = 0; i < 100; ++i) prompt.push_back(static_cast<TokenId>(mix64(r + i) % 300));
    SamplingOptions options;
    options.temperature = 0.2F + static_cast<float>(r % 5) * 0.4F;
    options.top_k = r % 2 == 0 ? 0 : static_cast<int32_t>(r);
    options.top_p = 0.5F + static_cast<float>(r % 6) * 0.1F;
    options.min_p = r % 3 == 0 ? 0.0F : 0.02F;
    options.repeat_penalty = r % 4 == 0 ? 1.0F : 1.3F;
    options.presence_penalty = r % 5 == 0 ? 0.0F : 0.4F;
    options.frequency_penalty = r % 7 == 0 ? 0.0F : 0.2F;
    options.penalty_window = r % 8 == 0 ? -1 : 40;
    options.logit_bias = {{3, 2.0F}, {static_cast<TokenId>(r), -5.0F}};
    const RowSampler sampler(options, r, prompt);
    for (int64_t position = 0; position < 20; ++position) {
      CHECK(sampler.draw(logits, position).id == naive(options, logits, prompt, r, position));
    }
  }
}

TEST_CASE("sampler applies the temperature before top-p") {
  // Probabilities 0.6, 0.4: at temperature 1, top-p 0.7 keeps both; at 0.3 the first alone has
  // 0.79.
  SamplingOptions options = open();
  options.top_p = 0.7F;
  const std::vector<float> logits{std::log(0.6F), std::log(0.4F)};
  const auto second = [&](float temperature) {
    options.temperature = temperature;
    int hits = 0;
    for (int64_t p = 0; p < 200; ++p) hits += draw(options, logits, {}, p);
    return hits;
  };
  CHECK(second(1) > 40);
  CHECK(second(0.3F) == 0);
}

TEST_CASE("sampler draw under top-k equals the full draw when its winner is in the support") {
  const std::vector<float> logits = random_row(500, 77);
  SamplingOptions limited = open();
  limited.top_k = 20;
  const RowSampler full(open(), 5, {});
  const RowSampler narrow(limited, 5, {});
  std::vector<TokenId> best(500);
  std::iota(best.begin(), best.end(), 0);
  std::sort(best.begin(), best.end(), [&](TokenId a, TokenId b) { return logits[a] > logits[b]; });
  best.resize(20);
  int inside = 0;
  for (int64_t p = 0; p < 2000; ++p) {
    const TokenId winner = full.draw(logits, p).id;
    if (std::find(best.begin(), best.end(), winner) == best.end()) continue;
    ++inside;
    CHECK(narrow.draw(logits, p).id == winner);
  }
  CHECK(inside > 500);
  CHECK(inside < 2000);
}

TEST_CASE("sampler draws depend on seed and position alone") {
  const std::vector<float> logits = random_row(500, 78);
  const RowSampler one(open(), 5, {});
  const RowSampler two(open(), 6, {});
  int differ = 0;
  for (int64_t p = 0; p < 100; ++p) {
    CHECK(one.draw(logits, p).id == RowSampler(open(), 5, {}).draw(logits, p).id);
    differ += one.draw(logits, p).id != two.draw(logits, p).id;
  }
  CHECK(differ > 50);
}

TEST_CASE("sampler names the position of a row that is not a number") {
  CHECK_THROWS_WITH_AS(draw(greedy(), {1, NAN}, {}, 12), doctest::Contains("position 12"), Error);
}

TEST_CASE("logprobs are the log-softmax of the raw logits") {
  const std::vector<float> logits{std::log(0.1F), std::log(0.6F), std::log(0.3F)};
  const Token token = with_logprobs(logits, 2, 2, 0);
  CHECK(token.id == 2);
  CHECK(token.logprob == doctest::Approx(std::log(0.3)));
  REQUIRE(token.top.size() == 2);
  CHECK(token.top[0].id == 1);
  CHECK(token.top[0].logprob == doctest::Approx(std::log(0.6)));
  CHECK(token.top[1].id == 2);
  CHECK(with_logprobs(logits, 0, 0, 0).top.empty());
  CHECK(with_logprobs(logits, 0, 20, 0).top.size() == 3);
}

TEST_CASE("logprobs of a large row agree with a sum in extended precision") {
  std::vector<float> logits = random_row(151936, 9);
  for (float& x : logits) x += 1000;  // a shift must not matter
  long double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<long double>(x) - 1000);
  for (const TokenId id : {0, 77777, 151935}) {
    const double exact = static_cast<double>(logits[id] - 1000 - std::log(sum));
    // f32 result near 20: half an ulp is 1e-6; the weights add below 1e-6.
    CHECK(std::abs(with_logprobs(logits, id, 0, 0).logprob - exact) < 2e-6);
  }
}

TEST_CASE("logprobs sort ties by id and leave masked ids out") {
  const Token token = with_logprobs(std::vector<float>{1, 2, -INFINITY, 2}, 1, 4, 0);
  REQUIRE(token.top.size() == 3);
  CHECK(token.top[0].id == 1);
  CHECK(token.top[1].id == 3);
  CHECK(token.top[2].id == 0);
}
