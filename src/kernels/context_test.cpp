#include "kernels/context.h"

#include <doctest/doctest.h>

#include <string>

#include "paceline/error.h"

using namespace paceline;
using namespace paceline::kernels;

TEST_CASE("instruction sets are named, detected and refused") {
  CHECK(parse_isa("") == detect_isa());
  CHECK(parse_isa("generic") == Isa::generic);
  CHECK(parse_isa(name(detect_isa())) == detect_isa());
  try {
    parse_isa("sse9");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(std::string(error.what()).find("sse9") != std::string::npos);
  }
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (isa <= detect_isa()) {
      CHECK(parse_isa(name(isa)) == isa);
    } else {
      CHECK_THROWS_AS(parse_isa(name(isa)), Error);
    }
  }
}

TEST_CASE("a context has as many threads as asked for, or one per core") {
  CHECK(make_context(3, Isa::generic, false).pool->size() == 3);
  CHECK(make_context(0, Isa::generic, false).pool->size() >= 1);
  CHECK_THROWS_AS(make_context(-1, Isa::generic, false), Error);
}
