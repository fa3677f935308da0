#include "base/utf8.h"

#include <doctest/doctest.h>

using namespace paceline::base;

TEST_CASE("utf8 repair replaces each maximal subpart once") {
  bool changed = true;
  CHECK(repair_utf8("plain é 漢 😀", &changed) == "plain é 漢 😀");
  CHECK_FALSE(changed);
  CHECK(repair_utf8("a\xF0\x9F\x98z", &changed) == "a\uFFFDz");
  CHECK(changed);
  CHECK(repair_utf8("\xC0\xAF") == "\uFFFD\uFFFD");
  CHECK(repair_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(repair_utf8("\xE2\x82") == "\uFFFD");
  CHECK(repair_utf8("") == "");
}

TEST_CASE("utf8 complete prefix holds back only what more bytes could finish") {
  CHECK(complete_utf8_prefix("abc") == 3);
  CHECK(complete_utf8_prefix("ab\xE2\x82") == 2);
  CHECK(complete_utf8_prefix("ab\xE2\x82\xAC") == 5);
  CHECK(complete_utf8_prefix("\xF0\x9F\x98") == 0);
  CHECK(complete_utf8_prefix("a\x80") == 2);
  CHECK(complete_utf8_prefix("a\xED\xA0") == 3);
  CHECK(complete_utf8_prefix("") == 0);
}

TEST_CASE("utf8 validity") {
  CHECK(is_valid_utf8("é😀"));
  CHECK_FALSE(is_valid_utf8("\xFF"));
  CHECK_FALSE(is_valid_utf8("\xE2\x82"));
}
