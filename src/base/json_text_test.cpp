#include "base/json_text.h"

#include <doctest/doctest.h>

using paceline::base::json_quote;

TEST_CASE("json text escapes quotes, backslashes and control bytes only") {
  CHECK(json_quote("") == "\"\"");
  CHECK(json_quote("a \"b\" \\ é 😀") == "\"a \\\"b\\\" \\\\ é 😀\"");
  CHECK(json_quote(std::string_view("\0\n\x1F\x7F", 4)) == "\"\\u0000\\u000a\\u001f\x7F\"");
}
