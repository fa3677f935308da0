#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "formats/checkpoint.h"
#include "support/error_of.h"

// Files that were downloaded to the model cache, and the small models of tests/golden/tiny.

using namespace paceline;
using namespace paceline::formats;

namespace {

std::filesystem::path cache() {
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr ? home : "") / ".cache/paceline/models";
}

/// Decodes the first row of every tensor that can be decoded; all values must be finite.
void check_first_rows(const Checkpoint& checkpoint) {
  for (const auto& [name, tensor] : checkpoint.tensors) {
    CAPTURE(name);
    if (!blocks::info(tensor.encoding).decodable || tensor.values() == 0) continue;
    std::vector<float> row(static_cast<std::size_t>(tensor.columns()));
    decode_rows(tensor, tensor.rows() - 1, 1, row);
    for (const float value : row) REQUIRE(std::isfinite(value));
  }
}

}  // namespace

TEST_CASE("downloaded GGUF models open and hold what their headers promise") {
  struct Model {
    const char* file;
    const char* architecture;
    std::size_t tensors;
    int64_t layers;
  };
  for (const Model& m :
       {Model{"SmolLM2-135M-Instruct.Q4_1.gguf", "llama", 272, 30}, Model{"gemma3-270m.Q4_K_M.gguf", "gemma3", 236, 18},
        Model{"qwen2.5-coder-0.5b-instruct.Q4_K_M.gguf", "qwen2", 291, 24},
        Model{"qwen2.5-coder-1.5b-instruct.Q4_K_M.gguf", "qwen2", 339, 28}}) {
    if (!std::filesystem::exists(cache() / m.file)) {
      MESSAGE("skipped: ", m.file, " is not in the model cache");
      continue;
    }
    CAPTURE(m.file);
    const Checkpoint c = open_checkpoint(cache() / m.file);
    CHECK(c.architecture == m.architecture);
    CHECK(c.tensors.size() == m.tensors);
    CHECK(c.metadata.integer(c.architecture + ".block_count") == m.layers);
    REQUIRE(c.find("token_embd.weight") != nullptr);
    CHECK(static_cast<int64_t>(c.metadata.strings("tokenizer.ggml.tokens")->size()) ==
          c.find("token_embd.weight")->rows());
    check_first_rows(c);
  }
}

TEST_CASE("the tiny golden models open and decode") {
  const std::filesystem::path tiny = "tests/golden/tiny";
  if (!std::filesystem::exists(tiny)) {
    MESSAGE("skipped: ", tiny.string(), " is not in this checkout");
    return;
  }
  int models = 0;
  for (const auto& folder : std::filesystem::directory_iterator(tiny)) {
    if (!folder.is_directory()) continue;
    CAPTURE(folder.path().string());
    const bool gguf = std::filesystem::exists(folder.path() / "model.gguf");
    const Checkpoint c = open_checkpoint(folder.path() / (gguf ? "model.gguf" : "model.safetensors"));
    CHECK_FALSE(c.architecture.empty());
    CHECK(c.tensors.size() > 10);
    check_first_rows(c);
    ++models;
  }
  CHECK(models > 0);
}
