#include "engine/limits.h"

#include <doctest/doctest.h>

#include <limits>

#include "support/error_of.h"

using namespace paceline;
using support::error_of;

TEST_CASE("the context is what was asked for, else the trained one up to 8192") {
  CHECK(engine::resolve_context(0, 0) == 8192);
  CHECK(engine::resolve_context(0, 2048) == 2048);
  CHECK(engine::resolve_context(0, 32768) == 8192);
  CHECK(engine::resolve_context(32768, 32768) == 32768);
  CHECK(engine::resolve_context(100, 0) == 100);
  const auto failure = error_of([] { engine::resolve_context(4097, 4096); });
  CHECK(failure.code == ErrorCode::invalid_argument);
  CHECK(failure.text.find("4097") != std::string::npos);
}

TEST_CASE("a context or a model beyond the memory is refused with both numbers") {
  const auto context = error_of([] { engine::check_context_fits(1 << 30, int64_t{1} << 60); });
  CHECK(context.code == ErrorCode::out_of_memory);
  CHECK(context.text.find("1073741824 tokens need 1152921504.6 GB") != std::string::npos);
  CHECK_NOTHROW(engine::check_context_fits(1, 1 << 20));

  formats::Checkpoint checkpoint;
  checkpoint.tensors["w"] = {
      .name = "w", .encoding = blocks::Encoding::q4_0, .shape = {int64_t{1} << 40, 1024}};
  CHECK(error_of([&] { engine::check_weights_fit(checkpoint, true); }).code ==
        ErrorCode::out_of_memory);
  CHECK_NOTHROW(engine::check_weights_fit(checkpoint, false));  // no bytes behind it
}
