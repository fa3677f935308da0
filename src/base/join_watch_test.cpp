#include "base/join_watch.h"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using paceline::base::JoinWatch;

namespace {

struct FakeTime {
  JoinWatch watch;
  JoinWatch::Clock::time_point now{1h};

  void loops(int count, JoinWatch::Duration own, JoinWatch::Duration wait) {
    for (int i = 0; i < count; ++i) watch.joined(own, wait, now += own + wait);
  }
};

}  // namespace

TEST_CASE("short waits and the natural imbalance of long loops never send the caller alone") {
  FakeTime t;
  t.loops(1000, 100us, 400us);
  CHECK_FALSE(t.watch.alone(t.now));
  t.loops(1000, 20ms, 9ms);
  CHECK_FALSE(t.watch.alone(t.now));
}

TEST_CASE("three slow joins send the caller alone for a while, then it probes again") {
  FakeTime t;
  t.loops(2, 100us, 3ms);
  CHECK_FALSE(t.watch.alone(t.now));
  t.loops(1, 100us, 3ms);
  CHECK(t.watch.alone(t.now));
  CHECK_FALSE(t.watch.alone(t.now + 51ms));
  t.now += 51ms;
  t.loops(1, 100us, 3ms);  // still stolen: one slow join is enough, and the pause doubles
  CHECK(t.watch.alone(t.now + 99ms));
  CHECK_FALSE(t.watch.alone(t.now + 101ms));
}

TEST_CASE("the pause has an upper limit and quiet loops reset it") {
  FakeTime t;
  for (int i = 0; i < 20; ++i) {
    t.loops(3, 100us, 3ms);
    CHECK(t.watch.alone(t.now));
    CHECK_FALSE(t.watch.alone(t.now + JoinWatch::kAloneMax + 1us));
    t.now += 2s;
  }
  t.loops(200, 100us, 1us);
  t.loops(2, 100us, 3ms);
  CHECK_FALSE(t.watch.alone(t.now));
  t.loops(1, 100us, 3ms);
  CHECK(t.watch.alone(t.now));
  CHECK_FALSE(t.watch.alone(t.now + 51ms));
}

TEST_CASE("rare slow joins are forgotten") {
  FakeTime t;
  for (int i = 0; i < 50; ++i) {
    t.loops(1, 100us, 3ms);
    t.loops(70, 100us, 1us);
    CHECK_FALSE(t.watch.alone(t.now));
  }
}

TEST_CASE("quiet loops within one slice of a shared core do not end the probing") {
  FakeTime t;
  t.loops(3, 100us, 3ms);
  t.now += 51ms;
  t.loops(150, 50us, 1us);  // 7.5 ms on the core, then put aside
  t.loops(1, 50us, 3ms);
  CHECK(t.watch.alone(t.now + 99ms));
  t.now += 101ms;
  t.loops(250, 50us, 1us);  // the core is free again
  t.loops(2, 50us, 3ms);
  CHECK_FALSE(t.watch.alone(t.now));
}
