#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sampling/row_sampler.h"

using namespace paceline;
using namespace paceline::sampling;

namespace {

// Chi-square of `draws` draws against softmax(logits / temperature) over the ids that `kept` names.
double chi_square(const SamplingOptions& options, const std::vector<float>& logits, uint64_t seed,
                  int draws, const std::vector<TokenId>& kept) {
  std::vector<double> probability(logits.size());
  double total = 0;
  for (const TokenId id : kept) total += std::exp(logits[id] / options.temperature);
  for (const TokenId id : kept)
    probability[id] = std::exp(logits[id] / options.temperature) / total;
  const RowSampler sampler(options, seed, {});
  std::vector<int> counts(logits.size());
  for (int64_t p = 0; p < draws; ++p) ++counts[sampler.draw(logits, p).id];
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (probability[i] == 0) {
      CHECK(counts[i] == 0);
      continue;
    }
    const double expected = probability[i] * draws;
    sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return sum;
}

// Mean + 5 standard deviations: false alarms are below one in a million.
double limit(std::size_t cells) {
  const auto freedom = static_cast<double>(cells - 1);
  return freedom + 5 * std::sqrt(2 * freedom);
}

}  // namespace

TEST_CASE("draws follow the softmax") {
  MESSAGE("seeds 1, 2, 3");
  const std::vector<float> logits{0.0F, 1.0F, -0.5F, 2.0F, 0.3F, 1.7F, -1.0F, 0.9F};
  const std::vector<TokenId> all{0, 1, 2, 3, 4, 5, 6, 7};
  for (const uint64_t seed : {1, 2, 3}) {
    for (const float temperature : {0.5F, 1.0F, 2.0F}) {
      SamplingOptions options;
      options.temperature = temperature;
      options.top_p = 1;
      CHECK(chi_square(options, logits, seed, 50000, all) < limit(8));
    }
  }
}

TEST_CASE("draws under top-k follow the softmax of what is kept") {
  SamplingOptions options;
  options.temperature = 1;
  options.top_p = 1;
  options.top_k = 3;
  const std::vector<float> logits{0.0F, 1.0F, -0.5F, 2.0F, 0.3F, 1.7F};
  CHECK(chi_square(options, logits, 4, 50000, {1, 3, 5}) < limit(3));
}

TEST_CASE("draws of a wide row follow the softmax") {
  MESSAGE("row seed 8, draw seed 9");
  std::mt19937_64 rng(8);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> logits(1000);
  std::vector<TokenId> all(1000);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = normal(rng);
    all[i] = static_cast<TokenId>(i);
  }
  SamplingOptions options;
  options.temperature = 1;
  options.top_p = 1;
  CHECK(chi_square(options, logits, 9, 200000, all) < limit(1000));
}
