#include "kernels/norm.h"

#include <doctest/doctest.h>
#include <mlx/ops.h>

#include "kernels/norm_test_support.h"
#include "paceline/error.h"

namespace mx = mlx::core;
using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::kernels::testing;

namespace {

// 3e-6: f32 sums of up to 1000 squares in another order, three more roundings.
constexpr double kTolerance = 3e-6;

/// The header's order in plain C++.
std::vector<float> rms_reference(const std::vector<float>& x, const std::vector<float>& w,
                                 float eps, float offset) {
  const std::size_t width = w.size();
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    float lane[16] = {};
    for (std::size_t i = 0; i < width; ++i) {
      lane[i % 16] = std::fma(x[row + i], x[row + i], lane[i % 16]);
    }
    const float scale = 1.0F / std::sqrt(reference_tree(lane) / static_cast<float>(width) + eps);
    for (std::size_t i = 0; i < width; ++i) y[row + i] = x[row + i] * scale * (w[i] + offset);
  }
  return y;
}

std::vector<float> layer_reference(const std::vector<float>& x, const std::vector<float>& w,
                                   const std::vector<float>& bias, float eps) {
  const std::size_t width = w.size();
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    float sums[16] = {}, squares[16] = {};
    for (std::size_t i = 0; i < width; ++i) sums[i % 16] += x[row + i];
    const float mean = reference_tree(sums) / static_cast<float>(width);
    for (std::size_t i = 0; i < width; ++i) {
      const float d = x[row + i] - mean;
      squares[i % 16] = std::fma(d, d, squares[i % 16]);
    }
    const float scale = 1.0F / std::sqrt(reference_tree(squares) / static_cast<float>(width) + eps);
    for (std::size_t i = 0; i < width; ++i) {
      y[row + i] = (x[row + i] - mean) * scale * w[i];
      if (!bias.empty()) y[row + i] += bias[i];
    }
  }
  return y;
}

std::vector<float> log_softmax_reference(const std::vector<float>& x, std::size_t width) {
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    float max = -INFINITY;
    for (std::size_t i = 0; i < width; ++i) max = x[row + i] > max ? x[row + i] : max;
    float lane[16] = {};
    for (std::size_t i = 0; i < width; ++i) lane[i % 16] += reference_exp(x[row + i] - max);
    const auto log = static_cast<float>(std::log(static_cast<double>(reference_tree(lane))));
    for (std::size_t i = 0; i < width; ++i) y[row + i] = x[row + i] - max - log;
  }
  return y;
}

/// x [rows, width] of `values`.
mx::array as_rows(const std::vector<float>& values, int width) {
  return array::f32_array(values, {static_cast<int>(values.size()) / width, width});
}

}  // namespace

TEST_CASE("rms_norm follows the written order on every instruction set") {
  for (const int width : {1, 15, 16, 17, 64, 100, 576}) {
    for (const int rows : {0, 1, 3, 31, 129}) {
      const auto x = random_array({rows, width}, 1, 3.0F);
      const auto w = random_array({width}, 2);
      const auto residual = random_array({rows, width}, 3);
      const auto expected = rms_reference(array::to_vector(x), array::to_vector(w), 1e-5F, 1.0F);
      for (const Isa isa : machine_isas()) {
        for (const int threads : {1, 2, 3}) {
          const Context ctx = make_context(threads, isa, false);
          const auto y = rms_norm(ctx, x, w, 1e-5F, 1.0F);
          CHECK(same_bits(array::to_vector(y), expected));
          CHECK(same_bits(array::to_vector(rms_norm(ctx, x, w, 1e-5F, 1.0F, residual)),
                          array::to_vector(add(ctx, y, residual))));
        }
      }
      const Context portable = make_context(1, Isa::generic, true);
      CHECK(relative_error(array::to_vector(rms_norm(portable, x, w, 1e-5F, 1.0F)), expected) <
            kTolerance);
    }
  }
}

TEST_CASE("softcap and add agree with their portable forms and between instruction sets") {
  const auto x = random_array({3, 3333}, 4, 20.0F);
  const auto expected = array::to_vector(softcap(make_context(1, Isa::generic, true), x, 30.0F));
  const auto generic = array::to_vector(softcap(make_context(1, Isa::generic, false), x, 30.0F));
  CHECK(relative_error(generic, expected) < 1e-6);
  for (const Isa isa : machine_isas()) {
    for (const int threads : {1, 2, 3}) {
      const Context ctx = make_context(threads, isa, false);
      CHECK(same_bits(array::to_vector(softcap(ctx, x, 30.0F)), generic));
      CHECK(same_bits(array::to_vector(add(ctx, x, x)), array::to_vector(mx::add(x, x))));
    }
  }
}

TEST_CASE("rms_norm follows the written order on hard values") {
  for (const int width : {1, 7, 16, 33, 576}) {
    const auto values = hard_rows(static_cast<std::size_t>(width));
    const auto w = random_floats(static_cast<std::size_t>(width), 2);
    const auto expected = rms_reference(values, w, 1e-6F, 1.0F);
    on_every_context([&](const Context& ctx) {
      const auto y =
          rms_norm(ctx, as_rows(values, width), array::f32_array(w, {width}), 1e-6F, 1.0F);
      CHECK(same_bits_or_nan(array::to_vector(y), expected));
    });
  }
}

TEST_CASE("layer_norm follows the written order on every instruction set") {
  for (const int width : {1, 15, 16, 17, 64, 100, 576}) {
    const auto w = random_floats(static_cast<std::size_t>(width), 2);
    const auto bias = random_floats(static_cast<std::size_t>(width), 3);
    const auto weight = array::f32_array(w, {width}), shift = array::f32_array(bias, {width});
    for (const int rows : {0, 1, 3, 31, 129}) {
      // Far from zero, where a sum of squares alone would lose the variance.
      auto x = random_floats(static_cast<std::size_t>(rows) * width, 1);
      for (float& v : x) v += 20.0F;
      const auto input = array::f32_array(x, {rows, width});
      on_every_context([&](const Context& ctx) {
        CHECK(same_bits(array::to_vector(layer_norm(ctx, input, weight, shift, 1e-5F)),
                        layer_reference(x, w, bias, 1e-5F)));
        CHECK(same_bits(array::to_vector(layer_norm(ctx, input, weight, std::nullopt, 1e-5F)),
                        layer_reference(x, w, {}, 1e-5F)));
      });
      const Context portable = make_context(1, Isa::generic, true);
      // 2e-4: means near 20 carry 1e-6 of rounding against deviations of 1, and with one element
      // sqrt(eps) divides what is left of it.
      CHECK(relative_error(array::to_vector(layer_norm(portable, input, weight, shift, 1e-5F)),
                           layer_reference(x, w, bias, 1e-5F)) < 2e-4);
    }
    const auto hard = hard_rows(static_cast<std::size_t>(width));
    on_every_context([&](const Context& ctx) {
      CHECK(same_bits_or_nan(
          array::to_vector(layer_norm(ctx, as_rows(hard, width), weight, shift, 1e-5F)),
          layer_reference(hard, w, bias, 1e-5F)));
    });
  }
}

TEST_CASE("log_softmax follows the written order on every instruction set") {
  const Context portable = make_context(1, Isa::generic, true);
  for (const int width : {1, 15, 16, 17, 100, 1000, 20011}) {
    for (const int rows : {0, 1, 5}) {
      const auto x = random_floats(static_cast<std::size_t>(rows) * width, 4, 6.0F);
      const auto expected = log_softmax_reference(x, static_cast<std::size_t>(width));
      const auto input = array::f32_array(x, {rows, width});
      on_every_context([&](const Context& ctx) {
        CHECK(same_bits(array::to_vector(log_softmax(ctx, input)), expected));
      });
      CHECK(relative_error(array::to_vector(log_softmax(portable, input)), expected) < kTolerance);
    }
    const auto hard = hard_rows(static_cast<std::size_t>(width));
    const auto expected = log_softmax_reference(hard, static_cast<std::size_t>(width));
    on_every_context([&](const Context& ctx) {
      CHECK(same_bits_or_nan(array::to_vector(log_softmax(ctx, as_rows(hard, width))), expected));
    });
    CHECK(std::isnan(expected[8 * static_cast<std::size_t>(width)]));  // -inf alone
  }
}

TEST_CASE("a row of log_softmax and layer_norm alone equals the row in any batch") {
  const auto x = random_array({40, 300}, 6, 4.0F);
  const auto w = random_array({300}, 7);
  const Context ctx = make_context(2, detect_isa(), false);
  const auto soft = array::to_vector(log_softmax(ctx, x));
  const auto norm = array::to_vector(layer_norm(ctx, x, w, std::nullopt, 1e-5F));
  for (const int row : {0, 1, 19, 20, 39}) {
    const auto alone = mx::slice(x, {row, 0}, {row + 1, 300});
    const auto first = static_cast<std::ptrdiff_t>(row) * 300;
    CHECK(same_bits(array::to_vector(log_softmax(ctx, alone)),
                    {soft.begin() + first, soft.begin() + first + 300}));
    CHECK(same_bits(array::to_vector(layer_norm(ctx, alone, w, std::nullopt, 1e-5F)),
                    {norm.begin() + first, norm.begin() + first + 300}));
  }
}

TEST_CASE("layer_norm and log_softmax refuse operands of other shapes and scalars") {
  const Context ctx = make_context(1, Isa::generic, false);
  const auto x = random_array({2, 8}, 1), w = random_array({7}, 2);
  CHECK_THROWS_AS(layer_norm(ctx, x, w, std::nullopt, 1e-5F), Error);
  CHECK_THROWS_AS(layer_norm(ctx, x, random_array({8}, 3), w, 1e-5F), Error);
  CHECK_THROWS_AS(log_softmax(ctx, mx::array(1.0F)), Error);
  CHECK_THROWS_AS(log_softmax(ctx, mx::array({1, 2})), Error);
}
