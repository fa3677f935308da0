#include "engine/bench_steps.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/fake_executor.h"

using namespace paceline;
using namespace paceline::engine;

namespace {

constexpr StepLimits kLimits{.context = 2048, .vocab = 32};

std::string refusal(const StepPlan& plan) {
  try {
    check_plan(plan, kLimits);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was refused";
}

std::string refusal_of(const StepShape& shape) { return refusal(StepPlan{.shapes = {shape}}); }

}  // namespace

TEST_CASE("a step runs over its context again and again, and the context stays") {
  FakeExecutor::Shared shared;
  FakeExecutor executor(shared);
  const StepPlan plan{.shapes = {{.rows = 2, .tokens = 3, .context = 700, .logits = 3},
                                 {.rows = 1, .tokens = 1, .context = 0}},
                      .rounds = 2};
  const std::vector<StepTimes> times = run_steps(executor, plan, kLimits);
  CHECK(shared.slices == std::vector<std::size_t>{512, 188, 512, 188});
  REQUIRE(times.size() == 2);
  CHECK(times[0].shape == plan.shapes[0]);
  CHECK(times[0].ms.size() >= 2);
  CHECK(times[1].ms.size() >= 2);
  const FakeExecutor::Shared::Probe verify{.held = {700, 700}, .tokens = 3, .wanted = 3};
  const FakeExecutor::Shared::Probe decode{.held = {0}, .tokens = 1, .wanted = 1};
  REQUIRE(shared.probes.size() > 4);
  CHECK(shared.probes[0] == verify);
  CHECK(shared.probes[1] == decode);
  for (const auto& probe : shared.probes) CHECK((probe == verify || probe == decode));
  CHECK(shared.alive == 0);
}

TEST_CASE("steps of the same context share its sequences") {
  FakeExecutor::Shared shared;
  FakeExecutor executor(shared);
  run_steps(executor,
            {.shapes = {{.context = 5}, {.rows = 3, .context = 5}, {.context = 6}}, .rounds = 1},
            kLimits);
  CHECK(shared.slices == std::vector<std::size_t>{5, 5, 5, 6});
}

TEST_CASE("progress tells the building and every round, and a no ends the measurement") {
  FakeExecutor::Shared shared;
  FakeExecutor executor(shared);
  std::vector<BenchProgress> seen;
  StepPlan plan{.shapes = {{.context = 5}, {.context = 6}}, .rounds = 3};
  plan.on_progress = [&](const BenchProgress& progress) {
    seen.push_back(progress);
    return true;
  };
  run_steps(executor, plan, kLimits);
  REQUIRE(seen.size() == 2 + 2 + 3 * 2);
  CHECK(seen[1].round == 0);
  CHECK(seen[1].fraction == 1);
  CHECK(seen[4].round == 1);
  CHECK(seen[4].fraction == 0.5);
  CHECK(seen.back().round == 3);
  CHECK(seen.back().fraction == 1);
  plan.on_progress = [](const BenchProgress& progress) { return progress.round < 2; };
  try {
    run_steps(executor, plan, kLimits);
    FAIL("expected an end");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::cancelled);
  }
  CHECK(shared.alive == 0);
}

TEST_CASE("plans out of range are refused by field") {
  check_plan({.shapes = {{.rows = 1, .tokens = 1, .context = 2047}}}, kLimits);
  CHECK(refusal_of({.rows = 0}).find("rows is 0, expected 1 to 64") != std::string::npos);
  CHECK(refusal_of({.rows = 65}).find("rows is 65") != std::string::npos);
  CHECK(refusal_of({.tokens = 0}).find("tokens is 0") != std::string::npos);
  CHECK(refusal_of({.rows = 64, .tokens = 129}).find("rows x tokens is 8256") != std::string::npos);
  CHECK(refusal_of({.tokens = 4, .logits = 5}).find("logits is 5, expected 1 to 4") !=
        std::string::npos);
  CHECK(refusal_of({.rows = 64, .tokens = 17, .logits = 17}).find("rows x logits is 1088") !=
        std::string::npos);
  CHECK(refusal_of({.context = -1}).find("context is -1, expected 0 to 2048") != std::string::npos);
  CHECK(refusal_of({.context = 2048}).find("context + tokens is 2049") != std::string::npos);
  CHECK(refusal_of({.rows = 64, .context = 1025}).find("tokens of all contexts is 65600") !=
        std::string::npos);
  CHECK(refusal(StepPlan{.shapes = {}}).find("number of shapes is 0") != std::string::npos);
  CHECK(refusal(StepPlan{.shapes = {{}}, .rounds = 0}).find("rounds is 0") != std::string::npos);
}
