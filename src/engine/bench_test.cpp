#include "paceline/bench.h"

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "engine/bench_bytes.h"
#include "engine/bench_ops.h"
#include "engine/bench_peaks.h"
#include "engine/engine_impl.h"
#include "engine/fake_executor.h"
#include "engine/model_executor.h"

using namespace paceline;
using namespace paceline::engine;

namespace {

LoadedModel load_tiny(const std::string& name, bool portable) {
  LoadOptions options;
  options.ops = portable ? Ops::portable : Ops::automatic;
  const auto file = "tests/golden/tiny/" + name + "/model.gguf";
  return load_model_executor(
      std::make_shared<const formats::Checkpoint>(formats::open_checkpoint(file)), options, {});
}

/// MLX streams belong to the thread that made them, and an executor ends those of its thread.
template <typename Body>
void on_own_thread(const Body& body) {
  std::async(std::launch::async, body).get();
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

namespace {

void check_probe(const std::string& name, bool portable) {
  CAPTURE(name);
  CAPTURE(portable);
  const LoadedModel model = load_tiny(name, portable);
  const auto sequence = model.executor->new_sequence();
  std::vector<TokenId> held(40);
  std::iota(held.begin(), held.end(), 1);
  const StepRow prompt{.sequence = sequence.get(), .tokens = held};
  model.executor->step({&prompt, 1});

  const std::vector<TokenId> next{5, 6, 7};
  const ProbeRow row{.sequence = sequence.get(), .tokens = next, .wanted = 2};
  const std::vector<float> first = copy(model.executor->probe({&row, 1}));
  const std::vector<float> again = copy(model.executor->probe({&row, 1}));
  REQUIRE(first.size() == 2 * static_cast<std::size_t>(model.facts.vocab_size));
  CHECK(first == again);
  const StepRow step{.sequence = sequence.get(), .tokens = next, .wants_logits = true};
  const std::vector<float> stepped = copy(model.executor->step({&step, 1}).at(0));
  CHECK(stepped == std::vector<float>(first.end() - model.facts.vocab_size, first.end()));
}

}  // namespace

TEST_CASE("a probe gives what a step gives, and can be repeated") {
  for (const char* name : {"llama-gguf-mix-tied", "gemma3-gguf-pattern3"}) {
    for (const bool portable : {false, true})
      on_own_thread([name, portable] { check_probe(name, portable); });
  }
}

TEST_CASE("a step reads all weights but an embedding table of its own") {
  on_own_thread([] {
    const LoadedModel tied = load_tiny("llama-gguf-mix-tied", false);
    CHECK(tied.facts.step_bytes == tied.facts.resident_bytes);
  });
  on_own_thread([] {
    const LoadedModel untied = load_tiny("llama-gguf-llama3-untied", false);
    CHECK(untied.facts.step_bytes < untied.facts.resident_bytes);
    CHECK(untied.facts.step_bytes > untied.facts.resident_bytes / 2);
  });
}

TEST_CASE("steps of an engine are measured between its requests") {
  FakeExecutor::Shared shared;
  auto impl = std::make_unique<Engine::Impl>();
  impl->info.context = 64;
  impl->info.vocab_size = shared.vocab;
  impl->worker =
      std::make_unique<Worker>([&shared] { return std::make_unique<FakeExecutor>(shared); }, 512);
  const auto engine = Engine::Impl::make(std::move(impl));
  const auto times = measure_steps(*engine, {.shapes = {{.context = 8}}, .rounds = 1});
  REQUIRE(times.size() == 1);
  CHECK(times[0].ms.size() >= 1);
  CHECK(shared.ids.size() == 8);
  CHECK_THROWS_AS(measure_steps(*engine, {.shapes = {{.context = 64}}}), Error);
  shared.before_step = [](int) { throw Error(ErrorCode::internal, "[x] y"); };
  CHECK_THROWS_WITH_AS(measure_steps(*engine, {.shapes = {{.context = 8}}}), "[x] y", Error);
}

TEST_CASE("every operation of the table runs, on every instruction set") {
  const OperationSizes sizes{
      .outputs = 20, .inputs = 256, .context = 512, .vocab = 1000, .cold_bytes = 1};
  const auto check = [&sizes](const char* isa) {
    const kernels::Context ctx = kernels::make_context(2, kernels::parse_isa(isa), false);
    std::set<std::string> names;
    for (const Operation& operation : make_operations(ctx, sizes)) {
      CAPTURE(operation.name);
      operation.run();
      CHECK(operation.calls > 0);
      CHECK(operation.bytes > 0);
      names.insert(operation.name);
    }
    CHECK(names.contains("linear Q6_K"));
    CHECK(names.contains("linear MLX nvfp4"));
    CHECK(names.contains("attend"));
    const ArithmeticPeaks peaks = measure_peaks(ctx);
    CHECK(peaks.f32 > 1e6);
    CHECK((peaks.int8 > 1e6) == (ctx.isa != kernels::Isa::generic));
  };
  for (const char* isa : {"generic", ""}) on_own_thread([&] { check(isa); });
}

TEST_CASE("an operation plan out of range is refused") {
  CHECK_THROWS_AS(measure_operations({.rounds = 0}), Error);
  CHECK_THROWS_AS(measure_operations({.isa = "none"}), Error);
}
