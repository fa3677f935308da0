// Tiny seeded checkpoints against logits of mlx-lm (tests/golden/README.md).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "support/golden_file.h"
#include "support/model_runner.h"

using namespace paceline;
using testing::GoldenFile;
using testing::Matrix;
using testing::ModelRunner;

namespace {

namespace fs = std::filesystem;

constexpr float kTolerance =
    1e-4F;  // of the logits' range: both sides compute in f32, in different orders

std::vector<fs::path> cases() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator("tests/golden/tiny")) {
    if (entry.is_directory()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  REQUIRE(found.size() >= 21);  // a run without cases proves nothing
  return found;
}

fs::path model_path(const fs::path& folder) {
  return fs::exists(folder / "model.gguf") ? folder / "model.gguf" : folder;
}

void check_close(const float* found, const Matrix<float>& expected, const std::string& what) {
  const auto [low, high] = std::minmax_element(expected.values.begin(), expected.values.end());
  const float range = *high - *low;
  float worst = 0;
  for (size_t i = 0; i < expected.values.size(); ++i)
    worst = std::max(worst, std::abs(found[i] - expected.values[i]));
  INFO(what, ": max difference ", worst, " of a range of ", range);
  CHECK(worst <= kTolerance * range);
  CHECK(range > 1.0F);
}

/// Whole prompt, then the last S tokens one at a time, then both sequences in one ragged batch.
void check_case(const fs::path& folder, const testing::RunnerOptions& options) {
  const GoldenFile golden(folder / "expected.safetensors");
  ModelRunner runner(model_path(folder), options);
  const std::vector<int32_t> a = golden.ints("tokens");
  const std::vector<int32_t> b = golden.ints("b.tokens");
  const Matrix<float> logits_a = golden.floats("logits");
  const Matrix<float> logits_b = golden.floats("b.logits");
  REQUIRE(logits_a.columns == runner.vocab());

  const auto whole = runner.new_sequence();
  check_close(runner.forward({{whole.get(), a}}).data(), logits_a, "whole prompt");

  const Matrix<float> steps = golden.floats("step_logits");
  const auto stepwise = runner.new_sequence();
  const size_t prefix = a.size() - static_cast<size_t>(steps.rows);
  runner.forward({{stepwise.get(), {a.begin(), a.begin() + static_cast<long>(prefix)}}});
  std::vector<float> found;
  for (size_t i = prefix; i < a.size(); ++i) {
    const std::vector<float> row = runner.forward({{stepwise.get(), {a[i]}}});
    found.insert(found.end(), row.begin(), row.end());
  }
  check_close(found.data(), steps, "step by step");

  const auto first = runner.new_sequence();
  const auto second = runner.new_sequence();
  const std::vector<float> both = runner.forward({{first.get(), a}, {second.get(), b}});
  check_close(both.data(), logits_a, "batch of two, first");
  check_close(both.data() + logits_a.values.size(), logits_b, "batch of two, second");
}

}  // namespace

TEST_CASE("tiny checkpoints give the reference's logits on the portable path") {
  for (const fs::path& folder : cases()) {
    CAPTURE(folder.string());
    CHECK_NOTHROW(check_case(folder, {.portable = true}));
  }
}

TEST_CASE("tiny checkpoints give the reference's logits on the CPU primitives") {
  for (const fs::path& folder : cases()) {
    CAPTURE(folder.string());
    CHECK_NOTHROW(check_case(folder, {.portable = false, .page_tokens = 16}));
  }
}

TEST_CASE(
    "a sequence's logits do not depend on slices, companions, threads or page size, bit for bit") {
  for (const fs::path& folder : cases()) {
    CAPTURE(folder.string());
    const GoldenFile golden(folder / "expected.safetensors");
    const std::vector<int32_t> a = golden.ints("tokens");
    const std::vector<int32_t> b = golden.ints("b.tokens");
    ModelRunner alone(model_path(folder), {.threads = 1, .kv = kernels::KvEncoding::bf16});
    const auto sequence = alone.new_sequence();
    const std::vector<float> expected = alone.forward({{sequence.get(), a}});
    const auto vocab = static_cast<size_t>(alone.vocab());

    ModelRunner other(model_path(folder),
                      {.threads = 2, .kv = kernels::KvEncoding::bf16, .page_tokens = 16});
    const auto sliced = other.new_sequence();
    const auto companion = other.new_sequence();
    const size_t cut = a.size() / 3;
    const std::vector<float> head = other.forward(
        {{companion.get(), b}, {sliced.get(), {a.begin(), a.begin() + static_cast<long>(cut)}}});
    const std::vector<float> tail = other.forward(
        {{sliced.get(), {a.begin() + static_cast<long>(cut), a.end()}}, {companion.get(), b}});
    std::vector<float> found(head.begin() + static_cast<long>(b.size() * vocab), head.end());
    found.insert(found.end(), tail.begin(),
                 tail.begin() + static_cast<long>((a.size() - cut) * vocab));
    CHECK(found == expected);
  }
}
