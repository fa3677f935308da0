#include "kernels/linear.h"

#include <doctest/doctest.h>
#include <mlx/ops.h>

#include <algorithm>

#include "kernels/linear_kernel.h"
#include "kernels/test_support.h"
#include "paceline/error.h"

namespace mx = mlx::core;
using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::kernels::testing;

namespace {

struct Problem {
  int rows, inputs, outputs;
  std::vector<float> x = random_floats(static_cast<std::size_t>(rows) * inputs, 1);
  std::vector<float> w = random_floats(static_cast<std::size_t>(outputs) * inputs, 2);
  std::vector<float> bias = random_floats(outputs, 3);
  std::vector<float> residual = random_floats(static_cast<std::size_t>(rows) * outputs, 4);

  Problem(int t, int k, int n) : rows(t), inputs(k), outputs(n) {}
  mx::array x_array(int begin, int end) const {
    return array::f32_array(std::span(x).subspan(static_cast<std::size_t>(begin) * inputs,
                                                 static_cast<std::size_t>(end - begin) * inputs),
                            {end - begin, inputs});
  }
  mx::array residual_array(int begin, int end) const {
    return array::f32_array(
        std::span(residual).subspan(static_cast<std::size_t>(begin) * outputs,
                                    static_cast<std::size_t>(end - begin) * outputs),
        {end - begin, outputs});
  }
  LinearWeight pack(const Context& ctx) const {
    return LinearWeight::pack(ctx, stored(w, outputs, inputs));
  }
  std::vector<float> run(const Context& ctx, int begin, int end) const {
    return array::to_vector(linear(ctx, x_array(begin, end), pack(ctx),
                                   array::f32_array(bias, {outputs}), residual_array(begin, end)));
  }
  std::vector<float> run(const Context& ctx) const { return run(ctx, 0, rows); }

  /// The header's order, one output at a time.
  std::vector<float> reference() const {
    std::vector<float> y(static_cast<std::size_t>(rows) * outputs);
    for (int t = 0; t < rows; ++t) {
      for (int n = 0; n < outputs; ++n) {
        float acc = 0.0F;
        for (int k = 0; k < inputs; ++k) {
          acc = std::fma(x[static_cast<std::size_t>(t) * inputs + k],
                         w[static_cast<std::size_t>(n) * inputs + k], acc);
        }
        const std::size_t at = static_cast<std::size_t>(t) * outputs + n;
        y[at] = (acc + bias[n]) + residual[at];
      }
    }
    return y;
  }
};

}  // namespace

TEST_CASE("linear follows the written order on every instruction set, for odd sizes") {
  for (const auto& [t, k, n] : {std::tuple{1, 7, 5},
                                {1, 33, 100},
                                {2, 16, 16},
                                {3, 1, 17},
                                {5, 100, 70},
                                {8, 400, 33},
                                {13, 769, 49},
                                {31, 65, 48},
                                {64, 385, 64},
                                {129, 130, 97}}) {
    const Problem p(t, k, n);
    const auto expected = p.reference();
    for (const Isa isa : machine_isas()) {
      for (const int threads : {1, 2, 3}) {
        INFO("T " << t << " K " << k << " N " << n << " " << name(isa) << " threads " << threads);
        CHECK(same_bits(p.run(make_context(threads, isa, false)), expected));
      }
    }
    // 1e-5: f32 sums of up to 769 products in another order.
    CHECK(relative_error(p.run(make_context(1, Isa::generic, true)), expected) < 1e-5);
  }
}

TEST_CASE("a row alone equals the row in any batch") {
  const Problem p(17, 401, 83);
  for (const Isa isa : machine_isas()) {
    const Context ctx = make_context(2, isa, false);
    for (int t = 1; t <= 17; ++t) {
      const auto batch = p.run(ctx, 0, t);
      const auto alone = p.run(ctx, t - 1, t);
      CHECK(same_bits(alone, {batch.end() - p.outputs, batch.end()}));
    }
  }
}
