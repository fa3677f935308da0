// What the graph of one forward consists of.
#include <doctest/doctest.h>
#include <mlx/ops.h>
#include <mlx/primitives.h>
#include <mlx/transforms.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "array/cpu_primitive.h"
#include "support/model_runner.h"

using namespace paceline;
using testing::ModelRunner;
namespace mx = mlx::core;

namespace {

const char* const kModels[] = {"tests/golden/tiny/llama-hf-gqa-tied", "tests/golden/tiny/qwen2-hf",
                               "tests/golden/tiny/qwen3-hf", "tests/golden/tiny/gemma3-hf"};

/// Names of the operations that `outputs` depend on, with how often each occurs.
std::map<std::string, int> operations(const std::vector<mx::array>& outputs) {
  std::map<std::string, int> names;
  std::set<std::uintptr_t> seen;
  std::vector<mx::array> open = outputs;
  while (!open.empty()) {
    const mx::array node = open.back();
    open.pop_back();
    if (!seen.insert(node.id()).second || !node.has_primitive()) continue;
    ++names[node.primitive().name()];
    open.insert(open.end(), node.inputs().begin(), node.inputs().end());
  }
  return names;
}

bool same_bits(mx::array a, mx::array b) {
  mx::eval({a, b});
  return a.nbytes() == b.nbytes() && std::memcmp(a.data<float>(), b.data<float>(), a.nbytes()) == 0;
}

}  // namespace

TEST_CASE("a forward on the CPU uses our own operations and reshapes only") {
  const std::set<std::string> ours = {"Linear",  "GatedLinear", "LinearEach", "Embed",
                                      "RmsNorm", "Rope",        "KvWrite",    "Attend",
                                      "Add",     "Softcap",     "Reshape"};
  for (const char* path : kModels) {
    CAPTURE(path);
    ModelRunner runner(path, {});
    const auto sequence = runner.new_sequence();
    const state::Batch batch = ModelRunner::batch_of({{sequence.get(), {1, 2, 3}}});
    const ModelRunner::Graph graph = runner.build(batch);
    CHECK(runner.model().exact());
    const auto found = operations({graph.logits});
    CHECK(found.size() >= 7);
    for (const auto& [name, count] : found) {
      CAPTURE(name);
      CHECK(ours.count(name) == 1);
    }
  }
}

TEST_CASE("a forward run eagerly has the bits of its graph") {
  for (const char* path : kModels) {
    CAPTURE(path);
    ModelRunner lazy(path, {}), eager(path, {});
    const auto a = lazy.new_sequence(), b = eager.new_sequence();
    const ModelRunner::Graph graph =
        lazy.build(ModelRunner::batch_of({{a.get(), {1, 2, 3, 4, 5}}}));
    const array::Eager now;
    const ModelRunner::Graph done =
        eager.build(ModelRunner::batch_of({{b.get(), {1, 2, 3, 4, 5}}}));
    CHECK(done.logits.is_available());
    CHECK(same_bits(graph.logits, done.logits));
    const mx::array rows = array::take_rows(done.logits, {4, 0, 4});
    CHECK(same_bits(mx::take(graph.logits, mx::array({4, 0, 4}), 0), rows));
  }
}

TEST_CASE("a portable forward uses stock operations and does not claim exactness") {
  ModelRunner runner(kModels[0], {.portable = true});
  const auto sequence = runner.new_sequence();
  const state::Batch batch = ModelRunner::batch_of({{sequence.get(), {1, 2, 3}}});
  CHECK(operations({runner.build(batch).logits}).count("Matmul") == 1);
  CHECK_FALSE(runner.model().exact());
}

TEST_CASE("taps give what was asked for and change nothing") {
  for (const char* path : kModels) {
    CAPTURE(path);
    ModelRunner plain(path, {});
    ModelRunner tapped(path, {.taps = {"layer.0", "pre_norm"}});
    const auto a = plain.new_sequence();
    const auto b = tapped.new_sequence();
    const state::Batch batch_a = ModelRunner::batch_of({{a.get(), {1, 2, 3}}});
    const state::Batch batch_b = ModelRunner::batch_of({{b.get(), {1, 2, 3}}});
    const ModelRunner::Graph without = plain.build(batch_a);
    const ModelRunner::Graph with = tapped.build(batch_b);
    CHECK(without.result.taps.empty());
    REQUIRE(with.result.taps.size() == 2);
    CHECK(same_bits(without.logits, with.logits));
    for (const auto& [name, tap] : with.result.taps) {
      CHECK(tap.shape() == with.result.hidden.shape());
      CHECK_FALSE(same_bits(tap, with.result.hidden));
    }
  }
}
