#include <doctest/doctest.h>

#include "kernels/linear.h"
#include "kernels/norm.h"
#include "kernels/norm_kernel.h"
#include "kernels/norm_test_support.h"

using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::kernels::testing;

namespace {

/// Hard values, then a sweep of both signs over every exponent and around the places where a
/// formula changes.
std::vector<float> many_values() {
  auto values = hard_rows(33);
  for (int i = -400; i <= 400; ++i) {
    const float x = std::exp2(static_cast<float>(i) / 3.0F);
    for (const float v : {x, -x, 0.625F + 0.0001F * static_cast<float>(i),
                          -88.0F + 0.05F * static_cast<float>(i)}) {
      values.push_back(v);
    }
  }
  return values;
}

}  // namespace

TEST_CASE("exp is within 2 ulp, covers the edges and is the same everywhere") {
  std::vector<float> x;
  for (int i = 0; i < 140510; ++i) x.push_back(-103.5F + 0.00137F * static_cast<float>(i));
  for (const float v :
       {0.0F, -0.0F, 1e-30F, 88.72F, 88.73F, 1000.0F, -1000.0F, INFINITY, -INFINITY, NAN}) {
    x.push_back(v);
  }
  const auto count = static_cast<int64_t>(x.size());
  std::vector<float> generic(x.size()), other(x.size());
  norm_table(Isa::generic).exp(x.data(), generic.data(), 0, count);
  for (const Isa isa : machine_isas()) {
    norm_table(isa).exp(x.data(), other.data(), 0, count - 1);
    CHECK(std::memcmp(other.data(), generic.data(), (x.size() - 1) * sizeof(float)) == 0);
    norm_table(isa).exp(x.data(), other.data(), count - 1, count);
    CHECK(std::isnan(other.back()));
  }
  double worst = 0.0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    if (exact > 3.4028234e38) {
      CHECK(generic[i] == INFINITY);
    } else if (exact < 1.1754944e-38) {
      CHECK(std::fabs(generic[i] - exact) <= 2.9e-45);  // two denormal steps
    } else {
      const auto near = static_cast<float>(exact);
      const double ulp = std::nextafter(near, INFINITY) - near;
      worst = std::max(worst, std::fabs(generic[i] - exact) / ulp);
    }
  }
  MESSAGE("exp: worst error " << worst << " ulp");
  CHECK(worst <= 2.0);
  CHECK(std::isnan(generic.back()));
}

TEST_CASE("exp, softcap and its tanh follow their written order on hard values") {
  const auto x = many_values();
  const auto count = static_cast<int64_t>(x.size());
  std::vector<float> expected, capped, y(x.size());
  for (const float v : x) {
    expected.push_back(reference_exp(v));
    capped.push_back(30.0F * reference_tanh(v / 30.0F));
  }
  const auto input = array::f32_array(x, {static_cast<int>(count)});
  on_every_context([&](const Context& ctx) {
    norm_table(ctx.isa).exp(x.data(), y.data(), 0, count);
    CHECK(same_bits_or_nan(y, expected));
    CHECK(same_bits_or_nan(array::to_vector(softcap(ctx, input, 30.0F)), capped));
  });
}

TEST_CASE("silu and gelu follow their written order on hard values") {
  const auto x = many_values();
  const int rows = static_cast<int>(x.size()), outputs = 17;
  const std::vector<float> ones(outputs, 1.0F);
  const auto input = array::f32_array(x, {rows, 1});
  for (const auto activation : {Activation::silu, Activation::gelu_tanh}) {
    const auto activate = activation == Activation::silu ? reference_silu : reference_gelu_tanh;
    std::vector<float> expected;
    for (const float v : x) {
      // One input and weights of 1: both products are v, -0 as +0.
      const float product = v + 0.0F;
      expected.insert(expected.end(), outputs, activate(product) * product);
    }
    on_every_context([&](const Context& ctx) {
      const auto weight = LinearWeight::pack(ctx, stored(ones, outputs, 1));
      const auto y = gated_linear(ctx, input, weight, weight, activation);
      CHECK(same_bits_or_nan(array::to_vector(y), expected));
    });
  }
}
