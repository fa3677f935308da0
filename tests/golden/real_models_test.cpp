// The catalogue's models against llama.cpp on the same file expanded to f32
// (tests/golden/README.md, real/).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/golden_file.h"
#include "support/model_cache.h"
#include "support/model_runner.h"

using namespace paceline;
using testing::GoldenFile;
using testing::Matrix;
using testing::ModelRunner;

namespace {

struct Agreement {
  double kl_mean = 0;   // over 65 classes: the 64 best ids and the rest
  double same_top = 0;  // share of positions with the same most likely id
  int64_t positions = 0;
};

/// ln-probabilities of one row, in double.
std::vector<double> log_softmax(const float* logits, size_t vocab) {
  const double top = *std::max_element(logits, logits + vocab);
  double sum = 0;
  for (size_t i = 0; i < vocab; ++i) sum += std::exp(logits[i] - top);
  std::vector<double> out(vocab);
  for (size_t i = 0; i < vocab; ++i) out[i] = logits[i] - top - std::log(sum);
  return out;
}

struct Expected {
  std::vector<int32_t> ids;  // [P, 64]
  Matrix<float> logprobs;    // [P, 64]
  std::vector<float> rest;   // [P]
};

double divergence(const std::vector<double>& found, const Expected& expected, int64_t position) {
  const auto classes = static_cast<size_t>(expected.logprobs.columns);
  double kl = 0;
  double found_mass = 0;
  for (size_t c = 0; c < classes; ++c) {
    const size_t at = static_cast<size_t>(position) * classes + c;
    const double p = expected.logprobs.values[at];
    const double q = found[static_cast<size_t>(expected.ids[at])];
    kl += std::exp(p) * (p - q);
    found_mass += std::exp(q);
  }
  const double p_rest = expected.rest[static_cast<size_t>(position)];
  const double q_rest = std::log(std::max(1.0 - found_mass, 1e-12));
  return kl + std::exp(p_rest) * (p_rest - q_rest);
}

Agreement compare(const std::filesystem::path& model, const std::string& golden_name,
                  kernels::KvEncoding kv, kernels::Numerics numerics = kernels::Numerics::exact) {
  const GoldenFile golden("tests/golden/real/" + golden_name + ".safetensors");
  const std::vector<int32_t> tokens = golden.ints("tokens");
  std::vector<int32_t> starts = golden.ints("starts");
  starts.push_back(static_cast<int32_t>(tokens.size()));
  const Expected expected{.ids = golden.ints("ids"),
                          .logprobs = golden.floats("logprobs"),
                          .rest = golden.floats("rest").values};

  ModelRunner runner(model, {.kv = kv, .numerics = numerics});
  const auto vocab = static_cast<size_t>(runner.vocab());
  Agreement agreement;
  for (size_t text = 0; text + 1 < starts.size(); ++text) {
    const auto sequence = runner.new_sequence();
    const std::vector<int32_t> part(tokens.begin() + starts[text],
                                    tokens.begin() + starts[text + 1]);
    const std::vector<float> logits = runner.forward({{sequence.get(), part}});
    for (size_t i = 0; i + 1 < part.size(); ++i) {  // row i predicts part[i + 1]
      const std::vector<double> found = log_softmax(logits.data() + i * vocab, vocab);
      const int64_t p = agreement.positions++;
      agreement.kl_mean += divergence(found, expected, p);
      const auto best = std::max_element(found.begin(), found.end()) - found.begin();
      agreement.same_top +=
          best == expected.ids[static_cast<size_t>(p * expected.logprobs.columns)] ? 1 : 0;
    }
  }
  REQUIRE(agreement.positions == expected.logprobs.rows);
  agreement.kl_mean /= static_cast<double>(agreement.positions);
  agreement.same_top /= static_cast<double>(agreement.positions);
  return agreement;
}

void check_model(const std::string& file, const std::string& golden_name) {
  const auto model = testing::cached_model(file);
  if (!model) return;
  const Agreement f32 = compare(*model, golden_name, kernels::KvEncoding::f32);
  MESSAGE(golden_name << " f32 K/V: mean KL " << f32.kl_mean << ", same top " << f32.same_top);
  CHECK(f32.kl_mean <= 1e-5);
  CHECK(f32.same_top >= 0.998);
  const Agreement bf16 = compare(*model, golden_name, kernels::KvEncoding::bf16);
  MESSAGE(golden_name << " bf16 K/V: mean KL " << bf16.kl_mean << ", same top " << bf16.same_top);
  CHECK(bf16.kl_mean <= 2e-4);
  CHECK(bf16.same_top >= 0.99);
  // llama.cpp's own 8-bit activations: KL 3.0e-3 to 5.5e-3 (the small models), same top 95 to 99 %.
  const auto fast =
      compare(*model, golden_name, kernels::KvEncoding::bf16, kernels::Numerics::fast);
  MESSAGE(golden_name << " fast: mean KL " << fast.kl_mean << ", same top " << fast.same_top);
  CHECK(fast.kl_mean <= 5e-3);
  CHECK(fast.same_top >= 0.95);
}

}  // namespace

TEST_CASE("smollm2:135m agrees with llama.cpp in f32") {
  check_model("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-135m");
}

TEST_CASE("gemma3:270m agrees with llama.cpp in f32") {
  check_model("gemma3-270m.Q4_K_M.gguf", "gemma3-270m");
}

TEST_CASE("qwen2.5-coder_0.5b agrees with llama.cpp in f32") {
  check_model("qwen2.5-coder-0.5b-instruct.Q4_K_M.gguf", "qwen2.5-coder-0.5b");
}

TEST_CASE("qwen2.5-coder_1.5b agrees with llama.cpp in f32") {
  check_model("qwen2.5-coder-1.5b-instruct.Q4_K_M.gguf", "qwen2.5-coder-1.5b");
}
