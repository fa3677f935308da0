#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernels/attend_reference.h"

using namespace paceline;
using namespace paceline::kernels;
using namespace paceline::kernels::testing;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr KvEncoding kEncodings[] = {KvEncoding::f32, KvEncoding::bf16, KvEncoding::f16};

/// The first difference, or -1. Any NaN equals any other: its sign and payload are not promised.
int64_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) {
      return static_cast<int64_t>(i);
    }
  }
  return -1;
}

/// Every instruction set, one and two threads, against the written order.
void check_order(const PagedRows& data, const AttendSpec& spec, KvEncoding encoding, int page,
                 int live_begin = 0) {
  const auto expected = ReferenceAttend::run(data, spec, encoding, live_begin);
  for (const Isa isa : machine_isas()) {
    for (const int threads : {1, 2}) {
      INFO(name(isa) << ", " << threads << " threads, encoding " << static_cast<int>(encoding)
                     << ", pages of " << page);
      CHECK(first_difference(
                data.attend(make_context(threads, isa, false), spec, page, encoding, live_begin),
                expected) == -1);
    }
  }
}

AttendSpec spec_number(int number, int heads, int start) {
  AttendSpec spec;
  spec.scale = 0.2F;
  if (number % 2 == 1) spec.mask = Mask::sliding(21 + number);
  if (number % 3 == 1) spec.softcap = 2.0F;
  if (number % 4 == 2) spec.sinks = random_floats(static_cast<std::size_t>(heads), 3);
  if (number % 5 == 3) spec.mask.relaxed = {{0, start, start + 9, start, start + 12}};
  if (number % 7 == 6) spec.mask = Mask::none();
  return spec;
}

}  // namespace

TEST_CASE("attend is the written order for 1 to 17 rows, every encoding, group and mask") {
  constexpr int kGroups[][2] = {{6, 1}, {9, 3}, {4, 4}, {7, 1}, {4, 2}, {5, 1}, {8, 1}};
  constexpr int kDims[][2] = {{64, 64}, {17, 9}, {80, 80}, {32, 48}, {100, 100}, {24, 33}};
  constexpr int kPages[] = {64, 16, 48, 20};
  for (int rows = 1; rows <= 17; ++rows) {
    const auto& [heads, kv_heads] = kGroups[rows % 7];
    const auto& [key_dim, value_dim] = kDims[rows % 6];
    const int start = 29 * rows % 140;
    INFO(rows << " rows from " << start << ", heads " << heads << "/" << kv_heads << ", dims "
              << key_dim << " " << value_dim);
    const PagedRows data({{rows, start}, {1, 70}}, heads, kv_heads, key_dim, value_dim);
    for (const KvEncoding encoding : kEncodings) {
      check_order(data, spec_number(rows, heads, start), encoding, kPages[rows % 4]);
    }
  }
}

TEST_CASE("attend is the written order for head sizes from 64 to 256") {
  for (const int dim : {64, 80, 96, 100, 112, 128, 192, 255, 256}) {
    INFO("head size " << dim);
    const PagedRows data({{2, 75}}, 3, 1, dim, dim);
    for (const KvEncoding encoding : kEncodings) check_order(data, {.scale = 0.1F}, encoding, 16);
  }
}

TEST_CASE("attend is the written order where several threads share one query") {
  const PagedRows data({{1, 900}, {3, 400}}, 6, 3, 64, 64);
  AttendSpec spec{.scale = 0.3F};
  spec.sinks = random_floats(6, 5);
  const auto expected = ReferenceAttend::run(data, spec, KvEncoding::bf16);
  for (const int threads : {2, 3, 4, 5, 9}) {
    for (const int page : {16, 64, 100}) {
      const auto y =
          data.attend(make_context(threads, detect_isa(), false), spec, page, KvEncoding::bf16);
      CHECK(first_difference(y, expected) == -1);
    }
  }
}

TEST_CASE("a verify window gives the bits of its tokens one by one") {
  const PagedRows data({{8, 595}}, 12, 2, 64, 64);
  const int width = data.values_per_token();
  for (const Isa isa : machine_isas()) {
    const Context ctx = make_context(2, isa, false);
    std::vector<float> alone;
    for (int i = 0; i < 8; ++i) {
      const auto one = data.piece(0, i, 1).attend(ctx, {.scale = 0.2F}, 64, KvEncoding::bf16);
      alone.insert(alone.end(), one.begin(), one.end());
    }
    for (int length = 2; length <= 8; ++length) {
      const auto window =
          data.piece(0, 0, length).attend(ctx, {.scale = 0.2F}, 64, KvEncoding::bf16);
      CHECK(same_bits(window, {alone.begin(), alone.begin() + length * width}));
    }
  }
}

TEST_CASE("zeros, subnormals, infinities and NaN follow the written order") {
  const auto run = [](const char* what, auto change, float softcap = 0.0F) {
    INFO(what);
    PagedRows data({{5, 130}, {1, 3}}, 4, 2, 32, 32);
    change(data);
    for (const KvEncoding encoding : kEncodings) {
      AttendSpec spec{.scale = 0.5F};
      spec.softcap = softcap;
      check_order(data, spec, encoding, 16);
      spec.sinks = {1.0F, -kInfinity, kInfinity, 0.0F};
      check_order(data, spec, encoding, 20, 3);
    }
  };
  const auto fill = [](std::vector<float>& values, float x) {
    std::fill(values.begin(), values.end(), x);
  };
  run("zeros", [&](PagedRows& d) { fill(d.keys(0), 0.0F); });
  run("negative zeros", [&](PagedRows& d) {
    fill(d.values(0), -0.0F);
    fill(d.keys(0), -0.0F);
  });
  run("subnormal keys", [&](PagedRows& d) { fill(d.keys(0), 1e-40F); });
  run("subnormal values", [&](PagedRows& d) { fill(d.values(0), -3e-39F); });
  run("f16 subnormal values", [&](PagedRows& d) { fill(d.values(0), 3.1e-6F); });
  run("an infinite value", [&](PagedRows& d) { d.values(0)[70 * 64 + 5] = kInfinity; });
  run("both infinite values", [&](PagedRows& d) {
    d.values(0)[70 * 64 + 5] = kInfinity;
    d.values(0)[71 * 64 + 5] = -kInfinity;
  });
  run("an infinite key", [&](PagedRows& d) { d.keys(0)[80 * 64 + 5] = -kInfinity; });
  run("a NaN key", [&](PagedRows& d) { d.keys(0)[80 * 64 + 5] = NAN; });
  run("a NaN value", [&](PagedRows& d) { d.values(0)[17 * 64] = NAN; });
  run("scores that overflow", [&](PagedRows& d) { fill(d.keys(0), 3e38F); });
  run("NaN in a query", [&](PagedRows& d) { d.queries(0)[131 * 128] = NAN; });
  run("a soft cap", [&](PagedRows& d) { d.keys(0)[80 * 64 + 5] = 1e30F; }, 4.0F);
}
