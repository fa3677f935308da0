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

TEST_CASE("the row check fails for a product that switches its arithmetic at four rows") {
  const Problem p(8, 401, 33);
  const Context one = make_context(1, Isa::generic, false);
  const Context other = make_context(1, Isa::generic, true);  // another order of the same sums
  const auto row_dependent = [&](int begin, int end) {
    return p.run(end - begin < 4 ? one : other, begin, end);
  };
  const auto batch = row_dependent(0, 8);
  const auto alone = row_dependent(7, 8);
  CHECK_FALSE(same_bits(alone, {batch.end() - p.outputs, batch.end()}));
}

TEST_CASE("bias and residual are each optional, x may be strided, no rows are fine") {
  const Problem p(5, 40, 21);
  const Context ctx = make_context(2, detect_isa(), false);
  const Context portable = make_context(1, Isa::generic, true);
  for (const Context* c : {&ctx, &portable}) {
    const auto weight = p.pack(*c);
    CHECK(weight.outputs() == 21);
    CHECK(weight.inputs() == 40);
    CHECK(weight.resident_bytes() >= 21 * 40 * 4);
    const auto x = p.x_array(0, 5), bias = array::f32_array(p.bias, {21});
    const auto residual = p.residual_array(0, 5);
    const auto plain = linear(*c, x, weight);
    CHECK(same_bits(array::to_vector(linear(*c, x, weight, bias)),
                    array::to_vector(mx::add(plain, bias))));
    CHECK(same_bits(array::to_vector(linear(*c, x, weight, std::nullopt, residual)),
                    array::to_vector(mx::add(plain, residual))));
    const auto strided = mx::transpose(mx::contiguous(mx::transpose(x)));
    CHECK(relative_error(array::to_vector(linear(*c, strided, weight)), array::to_vector(plain)) <
          1e-6);
    CHECK(linear(*c, mx::zeros({0, 40}), weight, bias).shape() == mx::Shape{0, 21});
    CHECK(array::to_vector(linear(*c, mx::zeros({0, 40}), weight, bias)).empty());
  }
}

TEST_CASE("wrong operands are refused by name") {
  const Problem p(2, 4, 3);
  const Context ctx = make_context(1, detect_isa(), false);
  const auto weight = p.pack(ctx);
  try {
    linear(ctx, mx::zeros({2, 3}), weight);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(std::string(error.what()) == "[linear] x has 3 columns, weight has 4");
  }
  CHECK_THROWS_AS(linear(ctx, mx::zeros({4}), weight), Error);
  CHECK_THROWS_AS(linear(ctx, mx::zeros({2, 4}, mx::float16), weight), Error);
  CHECK_THROWS_AS(linear(ctx, mx::zeros({2, 4}), weight, mx::zeros({4})), Error);
  CHECK_THROWS_AS(linear(ctx, mx::zeros({2, 4}), weight, std::nullopt, mx::zeros({1, 3})), Error);
  blocks::StoredTensor three = stored(p.w, 3, 4);
  three.shape = {3, 2, 2};
  try {
    LinearWeight::pack(ctx, three);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_checkpoint);
  }
  const std::vector<int32_t> order{0, 3};
  CHECK_THROWS_AS(LinearWeight::pack(ctx, stored(p.w, 3, 4), order), Error);
}

TEST_CASE("a row order picks and permutes outputs") {
  const Problem p(3, 20, 40);
  const std::vector<int32_t> order{39, 0, 7, 7, 12};
  for (const bool portable : {false, true}) {
    const Context ctx = make_context(2, detect_isa(), portable);
    const auto picked = LinearWeight::pack(ctx, stored(p.w, 40, 20), order);
    CHECK(picked.outputs() == 5);
    const auto all = array::to_vector(linear(ctx, p.x_array(0, 3), p.pack(ctx)));
    const auto some = array::to_vector(linear(ctx, p.x_array(0, 3), picked));
    for (int t = 0; t < 3; ++t) {
      for (int i = 0; i < 5; ++i) {
        const double expected = all[static_cast<std::size_t>(t * 40 + order[i])];
        CHECK(some[static_cast<std::size_t>(t * 5 + i)] == doctest::Approx(expected));
      }
    }
  }
}

TEST_CASE("embed gathers scaled rows and gives zeros outside the table") {
  const Problem p(1, 37, 50);
  const std::vector<int32_t> ids{0, 49, 16, 50, -1, 15, 3, 3, 48, 31, 2147483647};
  const int count = static_cast<int>(ids.size());
  std::vector<float> expected;
  for (const int32_t id : ids) {
    for (int k = 0; k < 37; ++k) {
      const bool known = id >= 0 && id < 50;
      expected.push_back(known ? p.w[static_cast<std::size_t>(id) * 37 + k] * 1.5F : 0.0F);
    }
  }
  for (const bool portable : {false, true}) {
    const Context ctx = make_context(3, detect_isa(), portable);
    const auto y = embed(ctx, array::i32_array(ids, {count}), p.pack(ctx), 1.5F);
    CHECK(array::to_vector(y) == expected);
    CHECK(array::to_vector(embed(ctx, mx::zeros({0}, mx::int32), p.pack(ctx), 1.0F)).empty());
  }
  const Context ctx = make_context(1, detect_isa(), false);
  CHECK_THROWS_AS(embed(ctx, mx::zeros({2}), p.pack(ctx), 1.0F), Error);
}
