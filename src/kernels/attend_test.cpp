#include <doctest/doctest.h>
#include <mlx/ops.h>

#include <algorithm>

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
        INFO("spec " << index++ << " bf16 " << (encoding == KvEncoding::bf16));
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
