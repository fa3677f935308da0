#include <doctest/doctest.h>
#include <mlx/ops.h>

#include <algorithm>

#include "kernels/attend_mask.h"
#include "kernels/attend_test_support.h"
#include "kernels/attention.h"
#include "paceline/error.h"

namespace mx = mlx::core;
using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::kernels::testing;

namespace {

// 2e-5: softmax and sums of up to 300 terms in another order, f32.
constexpr double kTolerance = 2e-5;

std::vector<AttendSpec> specs(int heads) {
  std::vector<AttendSpec> all(8);
  for (auto& spec : all) spec.scale = 0.2F;
  all[1].mask = Mask::sliding(37);
  all[2].mask = Mask::none();
  all[3].softcap = 3.0F;
  all[4].sinks = random_floats(static_cast<std::size_t>(heads), 9);
  all[5].mask.relaxed = {{0, 60, 130, 60, 130}, {1, 5, 9, 5, 12}};
  all[6].mask = Mask::sliding(20);
  all[6].mask.relaxed = {{0, 100, 120, 100, 140}};
  all[6].softcap = 5.0F;
  all[6].sinks = all[4].sinks;
  all[7].v_from_k = true;
  return all;
}

}  // namespace

TEST_CASE("attend equals the portable form for every kind of mask, and bit for bit on every ISA") {
  const PagedRows data({{150, 0}, {9, 5}, {1, 200}, {3, 62}}, 6, 2, 24, 24);
  const PagedRows odd({{70, 3}, {1, 63}, {2, 64}}, 5, 5, 17, 9);
  for (const PagedRows* rows : {&data, &odd}) {
    for (const auto encoding : {KvEncoding::f32, KvEncoding::bf16}) {
      int index = 0;
      for (const auto& spec : specs(rows->heads)) {
        const int number = index++;
        INFO("spec " << number << " bf16 " << (encoding == KvEncoding::bf16));
        const auto expected = rows->attend(make_context(1, Isa::generic, true), spec, 64, encoding);
        const auto first = rows->attend(make_context(1, Isa::generic, false), spec, 64, encoding);
        CHECK(relative_error(first, expected) < kTolerance);
        for (const Isa isa : machine_isas()) {
          for (const int threads : {1, 2, 3}) {
            for (const int page : {16, 32, 64, 128}) {
              CHECK(same_bits(rows->attend(make_context(threads, isa, false), spec, page, encoding),
                              first));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a query's bits do not depend on the slice or the batch it comes in") {
  const PagedRows data({{140, 10}, {5, 100}}, 6, 2, 32, 32);
  for (const Isa isa : machine_isas()) {
    const Context ctx = make_context(2, isa, false);
    for (const auto& spec : specs(6)) {
      // Rectangles: see the next test. Without a mask a query sees what later slices bring, by
      // definition.
      if (!spec.mask.relaxed.empty() || !spec.mask.causal) continue;
      const auto whole = data.attend(ctx, spec, 64, KvEncoding::bf16);
      const int width = data.values_per_token();
      for (const auto& [begin, length] :
           {std::pair{0, 1}, {0, 140}, {1, 63}, {53, 2}, {54, 1}, {60, 31}, {139, 1}, {100, 40}}) {
        INFO(name(isa) << " tokens from " << begin << ", " << length);
        const auto part = data.piece(0, begin, length).attend(ctx, spec, 32, KvEncoding::bf16);
        CHECK(same_bits(part,
                        {whole.begin() + begin * width, whole.begin() + (begin + length) * width}));
      }
      const auto second = data.piece(1, 0, 5).attend(ctx, spec, 16, KvEncoding::bf16);
      CHECK(same_bits(second, {whole.begin() + 140 * width, whole.end()}));
    }
  }
}

TEST_CASE("a slice that holds a whole rectangle gives the same bits") {
  const PagedRows data({{140, 0}}, 4, 4, 16, 16);
  AttendSpec spec;
  spec.scale = 0.25F;
  spec.mask.relaxed = {{0, 70, 90, 70, 90}};
  const Context ctx = make_context(2, detect_isa(), false);
  const auto whole = data.attend(ctx, spec, 64, KvEncoding::f32);
  const auto part = data.piece(0, 66, 30).attend(ctx, spec, 64, KvEncoding::f32);
  const int width = data.values_per_token();
  CHECK(same_bits(part, {whole.begin() + 66 * width, whole.begin() + 96 * width}));
}

TEST_CASE("keys before live_begin take no part, even when their memory is NaN or gone") {
  const PagedRows data({{3, 150}}, 6, 2, 24, 24);
  for (const Isa isa : machine_isas()) {
    const Context ctx = make_context(1, isa, false);
    const Context portable = make_context(1, Isa::generic, true);
    for (const int live : {1, 63, 64, 100, 149}) {
      for (const auto& spec : specs(6)) {
        const auto y = data.attend(ctx, spec, 16, KvEncoding::bf16, live);
        CHECK(relative_error(y, data.attend(portable, spec, 16, KvEncoding::bf16, live)) <
              kTolerance);
        CHECK(same_bits(y, data.attend(ctx, spec, 64, KvEncoding::bf16, live)));
      }
      // A window that ends behind live_begin: nothing that is gone was visible.
      AttendSpec window;
      window.mask = Mask::sliding(1);
      CHECK(same_bits(data.attend(ctx, window, 16, KvEncoding::bf16, live),
                      data.attend(ctx, window, 64, KvEncoding::bf16, 0)));
    }
  }
}

TEST_CASE("a query that sees nothing gives zeros") {
  const PagedRows data({{4, 20}}, 2, 1, 16, 16);
  AttendSpec spec;
  spec.mask = Mask::sliding(2);
  for (const bool portable : {false, true}) {
    // Live keys start behind the first three queries' reach: only key 23 is left.
    const auto y =
        data.attend(make_context(1, detect_isa(), portable), spec, 16, KvEncoding::f32, 23);
    const int width = data.values_per_token();
    CHECK(std::all_of(y.begin(), y.begin() + 3 * width, [](float v) { return v == 0.0F; }));
    CHECK(std::any_of(y.begin() + 3 * width, y.end(), [](float v) { return v != 0.0F; }));
    spec.sinks = {1.0F, 2.0F};
    const auto with_sinks =
        data.attend(make_context(1, detect_isa(), portable), spec, 16, KvEncoding::f32, 23);
    CHECK(std::all_of(with_sinks.begin(), with_sinks.begin() + 3 * width,
                      [](float v) { return v == 0.0F; }));
    spec.sinks.clear();
  }
}

TEST_CASE("attend refuses operands that do not fit") {
  const PagedRows data({{2, 0}}, 4, 2, 16, 16);
  const Context ctx = make_context(1, detect_isa(), false);
  const Pages pages(*data.table(), data.shape(64, KvEncoding::f32));
  const auto effect = mx::zeros({1}, mx::int32);
  const auto run = [&](const mx::array& q, const AttendSpec& spec) {
    return attend(ctx, q, effect, data.table(), pages.desc(), spec);
  };
  CHECK_THROWS_AS(run(mx::zeros({3, 4, 16}), {}), Error);
  CHECK_THROWS_AS(run(mx::zeros({2, 3, 16}), {}), Error);
  CHECK_THROWS_AS(run(mx::zeros({2, 4, 8}), {}), Error);
  AttendSpec sinks;
  sinks.sinks = {1.0F};
  CHECK_THROWS_AS(run(mx::zeros({2, 4, 16}), sinks), Error);
  const PagedRows wide({{2, 0}}, 4, 2, 16, 24);
  AttendSpec latent;
  latent.v_from_k = true;
  CHECK_THROWS_AS(wide.attend(ctx, latent, 64, KvEncoding::f32), Error);
}

TEST_CASE("visible_keys is allows() on the live keys, and reach covers it") {
  std::mt19937 generator(7);  // seed 7
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(generator);
  };
  for (int trial = 0; trial < 2000; ++trial) {
    Mask mask;
    mask.causal = draw(0, 3) > 0;
    mask.window = draw(0, 1) == 0 ? 0 : draw(1, 100);
    for (int i = draw(0, 2); i > 0; --i) {
      const int q = draw(0, 200), k = draw(0, 250);
      mask.relaxed.push_back({draw(0, 1), q, q + draw(0, 60), k, k + draw(0, 80)});
    }
    const LiveRange live{draw(0, 100), draw(100, 300)};
    const int q = draw(0, 250), row = draw(0, 1);
    const LiveRange range = reach(mask, row, q, q + 1, live);
    for (int block = 0; block < 320; block += kAttendBlock) {
      const uint64_t bits = visible_keys(mask, row, q, block, live);
      for (int j = 0; j < kAttendBlock; ++j) {
        const int k = block + j;
        const bool expected = k >= live.begin && k < live.end && allows(mask, row, q, k);
        REQUIRE(((bits >> j) & 1U) == (expected ? 1U : 0U));
        if (expected) REQUIRE((k >= range.begin && k < range.end));
      }
    }
  }
}

TEST_CASE("what is written is gathered: f32 exactly, bf16 rounded to nearest even") {
  const PagedRows data({{20, 50}, {1, 0}}, 2, 2, 17, 9);
  const auto table = data.table();
  const Context ctx = make_context(2, detect_isa(), false);
  auto k = random_floats(21 * 2 * 17, 1);
  k[0] = 1.00390625F;  // halfway between two bf16 values: to the even one, 1
  k[1] = 1.01171875F;  // halfway: up to 1.015625
  k[2] = INFINITY;
  k[3] = 3.4e38F;  // rounds up to infinity
  k[4] = -0.0F;
  const auto v = random_floats(21 * 2 * 9, 2);
  for (const auto encoding : {KvEncoding::f32, KvEncoding::bf16}) {
    const Pages pages(*table, data.shape(16, encoding), 50);
    const auto desc = pages.desc();
    const auto effect = kv_write(ctx, array::f32_array(k, {21, 2, 17}),
                                 array::f32_array(v, {21, 2, 9}), table, desc);
    const auto keys = array::to_vector(kv_gather(ctx, effect, 0, desc)[0]);
    CHECK(keys.size() == 20 * 2 * 17);
    const auto expected = [&](float x) {
      if (encoding == KvEncoding::f32) return x;
      const auto rounded = mx::astype(mx::astype(mx::array(x), mx::bfloat16), mx::float32);
      return mx::array(rounded).item<float>();
    };
    for (std::size_t i = 0; i < keys.size(); ++i) REQUIRE(keys[i] == expected(k[i]));
    CHECK(std::signbit(keys[4]));
    const auto values = array::to_vector(kv_gather(ctx, effect, 0, desc)[1]);
    for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == expected(v[i]));
  }
}
