#include "sampling/stop_matcher.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "paceline/error.h"

using namespace paceline;
using namespace paceline::sampling;

namespace {

std::string run(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopMatcher matcher(stops);
  std::string text;
  for (const std::string& piece : pieces) text += matcher.push(piece);
  return text + matcher.finish() + (matcher.matched() ? "|" : "");
}

}  // namespace

TEST_CASE("stop matcher ends the text before the match") {
  CHECK(run({"STOP"}, {"one STOP two"}) == "one |");
  CHECK(run({"STOP"}, {"one ", "ST", "O", "P two", " three"}) == "one |");
  CHECK(run({"STOP"}, {"one"}) == "one");
  CHECK(run({}, {"a", "b"}) == "ab");
}

TEST_CASE("stop matcher matches at the first byte") {
  CHECK(run({"a"}, {"abc"}) == "|");
  CHECK(run({"ab"}, {"a", "b"}) == "|");
}

TEST_CASE("stop matcher holds back only what may become a match") {
  StopMatcher matcher({"abcd"});
  CHECK(matcher.push("xab") == "x");
  CHECK(matcher.push("c") == "");
  CHECK(matcher.push("ab") == "abc");
  CHECK(matcher.push("z") == "abz");
  CHECK(matcher.push("abc") == "");
  CHECK(matcher.finish() == "abc");
  CHECK(matcher.finish() == "");
}

TEST_CASE("stop matcher finds a match that begins inside a failed one") {
  CHECK(run({"aab"}, {"a", "a", "a", "b"}) == "a|");
  CHECK(run({"abab c"}, {"aba", "bab", " c"}) == "ab|");
}

TEST_CASE("stop matcher takes the match that completes first, the longest of those") {
  CHECK(run({"abc", "b"}, {"abc"}) == "a|");
  CHECK(run({"abc", "bc"}, {"abc"}) == "|");
  CHECK(run({"bc", "abc"}, {"a", "b", "c"}) == "|");
  StopMatcher matcher({"zz", "b", "abc"});
  CHECK(matcher.push("abc") == "a");
  CHECK(matcher.match() == 1);
  CHECK(matcher.push("more") == "");
  CHECK(matcher.finish() == "");
}

TEST_CASE("stop matcher result does not depend on the pieces") {
  MESSAGE("seed 21");
  std::mt19937 rng(21);
  const std::vector<std::string> stops{"aba", "bb", "caaé", "é日b"};
  const std::vector<std::string> letters{"a", "b", "c", "é", "日"};
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::string> points;
    std::string whole;
    for (int n = 0; n < 12; ++n) {
      points.push_back(letters[rng() % letters.size()]);
      whole += points.back();
    }
    std::vector<std::string> pieces(1);
    for (const std::string& point : points) {
      if (rng() % 2 == 0) pieces.emplace_back();
      pieces.back() += point;
    }
    CAPTURE(whole);
    CHECK(run(stops, pieces) == run(stops, {whole}));
    CHECK(run(stops, points) == run(stops, {whole}));
  }
}

TEST_CASE("stop matcher never splits a code point") {
  StopMatcher matcher({"日本"});
  CHECK(matcher.push("x日") == "x");
  const std::string text = matcher.push("月");  // shares its first byte with no prefix of the stop
  CHECK(text == "日月");
  StopMatcher near({"\xE6\x97\xA5"});
  CHECK(near.push("\xE6\x97\xA6") == "\xE6\x97\xA6");
}

TEST_CASE("stop matcher copies are independent") {
  StopMatcher original({"ab"});
  CHECK(original.push("a") == "");
  StopMatcher copy = original;
  CHECK(copy.push("b") == "");
  CHECK(copy.matched());
  CHECK_FALSE(original.matched());
  CHECK(original.push("c") == "ac");
}

TEST_CASE("stop matcher refuses what it cannot match") {
  const auto refuse = [](std::vector<std::string> stops) {
    CHECK_THROWS_AS(StopMatcher(std::move(stops)), Error);
  };
  CHECK_THROWS_WITH_AS(StopMatcher({"a", ""}), doctest::Contains("stop string 1 is empty"), Error);
  refuse(std::vector<std::string>(17, "x"));
  refuse({std::string(257, 'x')});
  refuse({"\xFF"});
  StopMatcher limits(std::vector<std::string>(16, std::string(256, 'x')));
  CHECK(limits.push(std::string(255, 'x')).empty());
}
