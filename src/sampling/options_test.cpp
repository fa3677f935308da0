#include "sampling/options.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>

#include "paceline/error.h"
#include "sampling/history.h"

using namespace paceline;
using namespace paceline::sampling;

namespace {

std::string refusal(const SamplingOptions& options) {
  try {
    validate(options, 100);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return {};
}

template <class T>
std::string refusal(T SamplingOptions::* field, T value) {
  SamplingOptions options;
  options.*field = std::move(value);
  return refusal(options);
}

}  // namespace

TEST_CASE("sampling options at their limits are accepted") {
  using S = SamplingOptions;
  CHECK(refusal(S{}).empty());
  CHECK(refusal(&S::temperature, 0.0F).empty());
  CHECK(refusal(&S::temperature, 1000.0F).empty());
  CHECK(refusal(&S::top_k, 0).empty());
  CHECK(refusal(&S::top_k, 1 << 30).empty());
  CHECK(refusal(&S::top_p, 1.0F).empty());
  CHECK(refusal(&S::top_p, 1e-30F).empty());
  CHECK(refusal(&S::min_p, 0.0F).empty());
  CHECK(refusal(&S::min_p, 1.0F).empty());
  CHECK(refusal(&S::repeat_penalty, 0.1F).empty());
  CHECK(refusal(&S::presence_penalty, -2.0F).empty());
  CHECK(refusal(&S::frequency_penalty, 2.0F).empty());
  CHECK(refusal(&S::penalty_window, -1).empty());
  CHECK(refusal(&S::logit_bias, {{0, -100.0F}, {99, 100.0F}}).empty());
}

TEST_CASE("sampling options out of range are refused by field, value and range") {
  using S = SamplingOptions;
  CHECK(refusal(&S::temperature, -0.5F) == "[sampling] temperature is -0.5, expected >= 0");
  CHECK(refusal(&S::temperature, NAN).find("temperature is nan") != std::string::npos);
  CHECK(refusal(&S::temperature, INFINITY).find("temperature is inf") != std::string::npos);
  CHECK(refusal(&S::top_k, -1) == "[sampling] top_k is -1, expected >= 0 (0 = off)");
  CHECK(refusal(&S::top_p, 0.0F) == "[sampling] top_p is 0, expected in (0, 1] (1 = off)");
  CHECK(refusal(&S::top_p, 1.5F).find("top_p is 1.5") != std::string::npos);
  CHECK(refusal(&S::top_p, NAN).find("top_p is nan") != std::string::npos);
  CHECK(refusal(&S::min_p, -0.1F).find("min_p is -0.1") != std::string::npos);
  CHECK(refusal(&S::min_p, 1.1F).find("in [0, 1]") != std::string::npos);
  CHECK(refusal(&S::repeat_penalty, 0.0F).find("repeat_penalty is 0") != std::string::npos);
  CHECK(refusal(&S::presence_penalty, 2.5F).find("presence_penalty is 2.5") != std::string::npos);
  CHECK(refusal(&S::frequency_penalty, -2.5F).find("in [-2, 2]") != std::string::npos);
  CHECK(refusal(&S::penalty_window, -2).find("penalty_window is -2") != std::string::npos);
  CHECK(refusal(&S::logit_bias, {{100, 1.0F}}) ==
        "[sampling] logit_bias[100]'s token id is 100, expected in [0, 99]");
  CHECK(refusal(&S::logit_bias, {{-1, 1.0F}}).find("in [0, 99]") != std::string::npos);
  CHECK(refusal(&S::logit_bias, {{3, 101.0F}}).find("logit_bias[3] is 101") != std::string::npos);
}

TEST_CASE("sampling penalties count as off when nothing changes") {
  SamplingOptions options;
  CHECK_FALSE(has_penalties(options));
  options.presence_penalty = 0.5F;
  CHECK(has_penalties(options));
  options.penalty_window = 0;
  CHECK_FALSE(has_penalties(options));
}

TEST_CASE("sampling seeds that are drawn fit a JSON number") {
  const uint64_t first = random_seed();
  CHECK(first < (1ULL << 53));
  CHECK(first != random_seed());
}

TEST_CASE("history counts what is in the window") {
  using Counts = std::vector<std::pair<TokenId, int32_t>>;
  History window(3);
  for (const TokenId id : {5, 5, 2}) window.push(id);
  CHECK(window.counts() == Counts{{2, 1}, {5, 2}});
  window.push(9);
  CHECK(window.counts() == Counts{{2, 1}, {5, 1}, {9, 1}});
  window.push(9);
  CHECK(window.counts() == Counts{{2, 1}, {9, 2}});

  History all(-1);
  for (int i = 0; i < 1000; ++i) all.push(i % 2);
  CHECK(all.counts() == Counts{{0, 500}, {1, 500}});

  History none(0);
  none.push(1);
  CHECK(none.counts().empty());
}
