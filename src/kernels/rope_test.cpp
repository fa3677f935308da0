#include "kernels/rope.h"

#include <doctest/doctest.h>
#include <mlx/ops.h>

#include "kernels/norm_test_support.h"

namespace mx = mlx::core;
using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::kernels::testing;

namespace {

std::shared_ptr<RopeSpec> make_spec(int pairs, bool interleaved) {
  auto spec = std::make_shared<RopeSpec>();
  for (int i = 0; i < pairs; ++i) {
    spec->inverse_frequencies.push_back(
        std::pow(10000.0F, -static_cast<float>(i) / static_cast<float>(pairs)));
  }
  spec->magnitude = 1.25F;
  spec->interleaved = interleaved;
  return spec;
}

/// The header's formula in plain C++. x [tokens, heads, width].
std::vector<float> rope_reference(const std::vector<float>& x,
                                  const std::vector<int32_t>& positions, std::size_t heads,
                                  std::size_t width, const RopeSpec& spec) {
  std::vector<float> y = x;
  const std::size_t pairs = spec.inverse_frequencies.size();
  for (std::size_t row = 0; row < positions.size() * heads; ++row) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const float angle = static_cast<float>(positions[row / heads]) * spec.inverse_frequencies[i];
      const float c = static_cast<float>(std::cos(double{angle})) * spec.magnitude;
      const float s = static_cast<float>(std::sin(double{angle})) * spec.magnitude;
      const std::size_t a = row * width + (spec.interleaved ? 2 * i : i);
      const std::size_t b = spec.interleaved ? a + 1 : a + pairs;
      y[a] = x[a] * c - x[b] * s;
      y[b] = x[b] * c + x[a] * s;
    }
  }
  return y;
}

}  // namespace

TEST_CASE("rope agrees with its portable form at any position and split") {
  for (const bool interleaved : {false, true}) {
    const auto spec = make_spec(24, interleaved);
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

TEST_CASE("rope follows the written formula, also on hard values and odd sizes") {
  for (const bool interleaved : {false, true}) {
    for (const auto& [pairs, width] : {std::pair{1, 2}, {5, 10}, {16, 33}, {24, 64}}) {
      const auto spec = make_spec(pairs, interleaved);
      const int heads = 3;
      // As many tokens as hard values fill; large enough for two threads at the last shape.
      auto x = hard_rows(static_cast<std::size_t>(heads) * width);
      const auto more = random_floats(static_cast<std::size_t>(100 * heads * width), 8);
      x.insert(x.end(), more.begin(), more.end());
      const int tokens = static_cast<int>(x.size()) / (heads * width);
      std::vector<int32_t> positions;
      for (int i = 0; i < tokens; ++i) positions.push_back(i * 37);
      positions[0] = 16777217;  // beyond 2^24: rounded to f32 before the product
      const auto expected = rope_reference(x, positions, heads, width, *spec);
      const auto input = array::f32_array(x, {tokens, heads, width});
      const auto at = array::i32_array(positions, {tokens});
      on_every_context([&](const Context& ctx) {
        CHECK(same_bits_or_nan(array::to_vector(rope(ctx, input, at, spec)), expected));
      });
    }
  }
}
