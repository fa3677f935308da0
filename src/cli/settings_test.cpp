#include "cli/settings.h"

#include <doctest/doctest.h>

#include "cli/usage_error.h"

using namespace paceline::cli;

TEST_CASE("the cache is where the flag says, else XDG, else home") {
  Environment environment{.home = "/home/a", .xdg_cache_home = "/x", .term = "xterm"};
  const Settings both = make_settings(environment, {}, "/bin/p");
  CHECK(cache_root(both, "/flag") == "/flag");
  CHECK(cache_root(both, "") == "/x/paceline");
  environment.xdg_cache_home = "relative";
  CHECK(cache_root(make_settings(environment, {}, ""), "") == "/home/a/.cache/paceline");
  environment.home.clear();
  CHECK_THROWS_AS(cache_root(make_settings(environment, {}, ""), ""), UsageError);
}

TEST_CASE("colours need a capable terminal and no NO_COLOR") {
  const Streams all{true, true, true};
  CHECK(make_settings({.term = "xterm"}, all, "").colour_output);
  CHECK_FALSE(make_settings({.term = "xterm"}, {true, false, true}, "").colour_output);
  CHECK(make_settings({.term = "xterm"}, {true, false, true}, "").colour_error);
  CHECK_FALSE(make_settings({.no_color = "1", .term = "xterm"}, all, "").colour_error);
  CHECK_FALSE(make_settings({.term = "dumb"}, all, "").colour_output);
  CHECK_FALSE(make_settings({.term = "dumb"}, all, "").line_editing);
  CHECK(make_settings({.no_color = "1", .term = "xterm"}, all, "").line_editing);
}

TEST_CASE("columns are a positive number or nothing") {
  CHECK(make_settings({.columns = "120"}, {}, "").columns == 120);
  CHECK(make_settings({.columns = "0"}, {}, "").columns == 0);
  CHECK(make_settings({.columns = "12x"}, {}, "").columns == 0);
  CHECK(make_settings({.columns = "99999999999999"}, {}, "").columns == 0);
}
