#include "kernels/norm.h"

#include <doctest/doctest.h>
#include <mlx/ops.h>

#include "kernels/norm_kernel.h"
#include "kernels/rope.h"
#include "kernels/test_support.h"
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
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
    }
    const float scale = 1.0F / std::sqrt(lane[0] / static_cast<float>(width) + eps);
    for (std::size_t i = 0; i < width; ++i) y[row + i] = x[row + i] * scale * (w[i] + offset);
  }
  return y;
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

TEST_CASE("rope agrees with its portable form at any position and split") {
  for (const bool interleaved : {false, true}) {
    auto spec = std::make_shared<RopeSpec>();
    for (int i = 0; i < 24; ++i) {
      spec->inverse_frequencies.push_back(std::pow(10000.0F, -static_cast<float>(i) / 24.0F));
    }
    spec->magnitude = 1.25F;
    spec->interleaved = interleaved;
    std::vector<int32_t> positions{0, 1, 63, 64, 65, 4095, 100000, 3};
    for (int i = 0; i < 200; ++i) positions.push_back(1000 + i);
    const int tokens = static_cast<int>(positions.size());
    const auto x = random_array({tokens, 3, 64}, 5);
    const auto p = array::i32_array(positions, {tokens});
    const auto expected = array::to_vector(rope(make_context(1, Isa::generic, true), x, p, spec));
    const auto one = array::to_vector(rope(make_context(1, Isa::generic, false), x, p, spec));
    CHECK(relative_error(one, expected) < 1e-6);
    Context bare = make_context(2, detect_isa(), false);
    CHECK(same_bits(array::to_vector(rope(bare, x, p, spec)), one));
    bare.rope_cache = nullptr;
    CHECK(same_bits(array::to_vector(rope(bare, x, p, spec)), one));
    const auto last = mx::slice(x, {tokens - 1, 0, 0}, {tokens, 3, 64});
    const auto alone = array::to_vector(
        rope(bare, last, array::i32_array(std::span(positions).last(1), {1}), spec));
    CHECK(same_bits(alone, {one.end() - 3 * 64, one.end()}));
  }
}
