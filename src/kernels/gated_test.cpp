#include <doctest/doctest.h>
#include <mlx/ops.h>

#include "kernels/linear.h"
#include "kernels/norm.h"
#include "kernels/norm_kernel.h"
#include "kernels/test_support.h"
#include "paceline/error.h"

namespace mx = mlx::core;
using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::kernels::testing;

namespace {

/// silu and gelu_tanh in plain C++ over our exp and tanh, one rounding per operation.
std::vector<float> activated(const std::vector<float>& x, Activation activation) {
  std::vector<float> y(x.size());
  if (activation == Activation::silu) {
    std::vector<float> negative(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) negative[i] = -x[i];
    norm_table(Isa::generic).exp(negative.data(), y.data(), 0, static_cast<int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / (1.0F + y[i]);
    return y;
  }
  std::vector<float> inner(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    inner[i] = 0.79788456080286536F * std::fma(0.044715F, x[i] * x[i] * x[i], x[i]);
  }
  norm_table(Isa::generic).softcap(inner.data(), 1.0F, y.data(), 0, static_cast<int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 0.5F * x[i] * (1.0F + y[i]);
  return y;
}

}  // namespace

TEST_CASE("gated_linear equals its parts bit for bit and its portable form closely") {
  for (const auto& [rows, inputs, outputs] : {std::tuple{0, 8, 16},
                                              {1, 33, 100},
                                              {4, 64, 17},
                                              {9, 100, 320},
                                              {31, 65, 48},
                                              {129, 40, 200}}) {
    const auto gate = random_floats(static_cast<std::size_t>(inputs) * outputs, 11);
    const auto up = random_floats(static_cast<std::size_t>(inputs) * outputs, 12);
    const auto x = random_array({rows, inputs}, 13);
    for (const auto activation : {Activation::silu, Activation::gelu_tanh}) {
      for (const Isa isa : machine_isas()) {
        for (const int threads : {1, 2, 3}) {
          const Context ctx = make_context(threads, isa, false);
          const auto g = LinearWeight::pack(ctx, stored(gate, outputs, inputs));
          const auto u = LinearWeight::pack(ctx, stored(up, outputs, inputs));
          auto expected = activated(array::to_vector(linear(ctx, x, g)), activation);
          const auto right = array::to_vector(linear(ctx, x, u));
          for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= right[i];
          CHECK(same_bits(array::to_vector(gated_linear(ctx, x, g, u, activation)), expected));
        }
      }
      const Context ctx = make_context(1, detect_isa(), false);
      const Context portable = make_context(1, Isa::generic, true);
      const auto run = [&](const Context& c) {
        return array::to_vector(
            gated_linear(c, x, LinearWeight::pack(c, stored(gate, outputs, inputs)),
                         LinearWeight::pack(c, stored(up, outputs, inputs)), activation));
      };
      // 1e-5: f32 sums in another order, libm's exp and tanh.
      CHECK(relative_error(run(ctx), run(portable)) < 1e-5);
    }
  }
}

TEST_CASE("gated_linear refuses weights of different shapes") {
  const Context ctx = make_context(1, detect_isa(), false);
  const auto values = random_floats(64, 1), half = random_floats(32, 1);
  const auto a = LinearWeight::pack(ctx, stored(values, 8, 8));
  const auto b = LinearWeight::pack(ctx, stored(values, 4, 16));
  const auto c = LinearWeight::pack(ctx, stored(half, 4, 8));
  CHECK_THROWS_AS(gated_linear(ctx, mx::zeros({1, 8}), a, b, Activation::silu), Error);
  CHECK_THROWS_AS(gated_linear(ctx, mx::zeros({1, 8}), a, c, Activation::silu), Error);
}
