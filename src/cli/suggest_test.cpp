#include "cli/suggest.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paceline::cli;

TEST_CASE("a misspelt name finds its neighbour") {
  const std::vector<std::string> names = {"pull",     "list",       "inspect",
                                          "tokenize", "small:135m", "--temperature"};
  CHECK(nearest("pul", names) == "pull");
  CHECK(nearest("isnpect", names) == "inspect");
  CHECK(nearest("Tokenise", names) == "tokenize");
  CHECK(nearest("small", names) == "small:135m");
  CHECK(nearest("--temprature", names) == "--temperature");
  CHECK(nearest("--temp", names) == "--temperature");
  CHECK(nearest("xyzzy", names).empty());
  CHECK(nearest("", names).empty());
  CHECK(nearest(std::string(5000, 'a'), names).empty());
}

TEST_CASE("the suggestion reads as the end of a sentence") {
  const std::vector<std::string> names = {"pull"};
  CHECK(did_you_mean("pulll", names) == ", did you mean 'pull'?");
  CHECK(did_you_mean("quit", names).empty());
}
