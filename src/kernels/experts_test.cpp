#include "kernels/experts.h"

#include <doctest/doctest.h>
#include <mlx/ops.h>

#include "kernels/packed_test_support.h"
#include "kernels/test_support.h"
#include "paceline/error.h"

namespace mx = mlx::core;
using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::kernels::testing;

namespace {

constexpr int kInputs = 256, kOutputs = 40, kExperts = 5;

ExpertWeights experts(const Context& ctx, uint32_t seed) {
  std::vector<LinearWeight> all;
  for (uint32_t i = 0; i < kExperts; ++i) {
    const FormatCase format{.encoding = i % 2 == 0 ? Encoding::q4_k : Encoding::q6_k};
    const auto tensor = random_tensor(format, kOutputs, kInputs, seed + i);
    all.push_back(LinearWeight::pack(ctx, tensor->tensor));
  }
  return std::make_shared<const std::vector<LinearWeight>>(std::move(all));
}

std::vector<float> row_of(const mx::array& all, int row) {
  const auto values = array::to_vector(all);
  return {values.begin() + row * kOutputs, values.begin() + (row + 1) * kOutputs};
}

}  // namespace

TEST_CASE("a row through an expert equals the row alone, whatever the others choose") {
  const std::vector<int32_t> chosen{3, 0, 3, 4, -1, 3, 1, 5, 0, 3, 3, 3};  // nobody takes 2
  const int rows = static_cast<int>(chosen.size());
  const auto x = random_array({rows, kInputs}, 31);
  const auto ids = array::i32_array(chosen, {rows});
  for (const Numerics numerics : {Numerics::exact, Numerics::fast}) {
    for (const Isa isa : machine_isas()) {
      for (const int threads : {1, 2}) {
        const Context ctx = make_context(threads, isa, false, numerics);
        const auto gates = experts(ctx, 40), ups = experts(ctx, 60);
        const auto y = expert_linear(ctx, x, gates, ids);
        const auto h = expert_gated_linear(ctx, x, gates, ups, ids, Activation::silu);
        for (int row = 0; row < rows; ++row) {
          INFO(name(isa) << " " << name(numerics) << " row " << row);
          const int32_t expert = chosen[static_cast<std::size_t>(row)];
          if (expert < 0 || expert >= kExperts) {
            CHECK(row_of(y, row) == std::vector<float>(kOutputs, 0.0F));
            CHECK(row_of(h, row) == std::vector<float>(kOutputs, 0.0F));
            continue;
          }
          const auto& gate = (*gates)[static_cast<std::size_t>(expert)];
          const auto& up = (*ups)[static_cast<std::size_t>(expert)];
          const auto alone = mx::slice(x, {row, 0}, {row + 1, kInputs});
          CHECK(same_bits(row_of(y, row), array::to_vector(linear(ctx, alone, gate))));
          CHECK(same_bits(row_of(h, row),
                          array::to_vector(gated_linear(ctx, alone, gate, up, Activation::silu))));
        }
      }
    }
  }
}

TEST_CASE("experts agree with their portable form") {
  const std::vector<int32_t> chosen{3, 0, -1, 4};
  const auto x = random_array({4, kInputs}, 32);
  const auto ids = array::i32_array(chosen, {4});
  const Context ctx = make_context(2, detect_isa(), false);
  const Context portable = make_context(1, detect_isa(), true);
  const auto run = [&](const Context& c) {
    const auto h = expert_gated_linear(c, x, experts(c, 40), experts(c, 60), ids, Activation::silu);
    const auto y = expert_linear(c, x, experts(c, 40), ids);
    return array::to_vector(mx::concatenate({h, y}));
  };
  CHECK(relative_error(run(ctx), run(portable)) < 1e-5);
}

TEST_CASE("slots are summed in their order") {
  const auto x = random_floats(3 * 4 * 7, 33);
  const auto w = random_floats(3 * 4, 34);
  std::vector<float> expected;
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t n = 0; n < 7; ++n) {
      float acc = 0.0F;
      for (std::size_t s = 0; s < 4; ++s) {
        acc = std::fma(w[t * 4 + s], x[(t * 4 + s) * 7 + n], acc);
      }
      expected.push_back(acc);
    }
  }
  const auto xs = array::f32_array(x, {3, 4, 7}), ws = array::f32_array(w, {3, 4});
  const auto y = array::to_vector(slot_sum(make_context(1, Isa::generic, false), xs, ws));
  CHECK(same_bits(y, expected));
  const Context portable = make_context(1, Isa::generic, true);
  CHECK(relative_error(array::to_vector(slot_sum(portable, xs, ws)), expected) < 1e-6);
}

TEST_CASE("experts of different shapes are refused") {
  const Context ctx = make_context(1, detect_isa(), false);
  const auto few = experts(ctx, 40);
  const auto x = mx::zeros({2, 128});
  CHECK_THROWS_AS(expert_linear(ctx, x, few, mx::zeros({2}, mx::int32)), Error);
  CHECK_THROWS_AS(expert_linear(ctx, mx::zeros({2, kInputs}), few, mx::zeros({3}, mx::int32)),
                  Error);
  CHECK_THROWS_AS(expert_linear(ctx, mx::zeros({2, kInputs}), nullptr, mx::zeros({2}, mx::int32)),
                  Error);
}
