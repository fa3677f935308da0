#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "formats/checkpoint.h"
#include "kernels/context.h"
#include "models/model.h"
#include "state/store.h"

namespace paceline::testing {

struct RunnerOptions {
  bool portable = false;
  int threads = 2;
  kernels::KvEncoding kv = kernels::KvEncoding::f32;
  int32_t page_tokens = 64;
  std::vector<std::string> taps = {};
  kernels::Numerics numerics = kernels::Numerics::exact;
  std::string isa = {};  ///< "" = the best this machine has
};

/// A model with its state, driven directly: no engine, no sampling.
class ModelRunner {
 public:
  ModelRunner(const std::filesystem::path& model, const RunnerOptions& options);

  std::unique_ptr<state::Sequence> new_sequence() { return store_->new_sequence(); }
  struct Row {
    state::Sequence* sequence;
    std::vector<int32_t> tokens;
  };
  /// One forward over all rows; commits all tokens. Logits of every position, [T][vocab], row by
  /// row.
  std::vector<float> forward(const std::vector<Row>& rows);
  /// The graph of one forward over the rows and of its head, not evaluated and not committed.
  struct Graph {
    models::ForwardResult result;
    mlx::core::array logits;
    std::vector<mlx::core::array> effects;
  };
  Graph build(const state::Batch& batch);
  static state::Batch batch_of(const std::vector<Row>& rows);
  int32_t vocab() const { return model_->vocab_size(); }
  models::Model& model() { return *model_; }
  state::StateStore& store() { return *store_; }

 private:
  formats::Checkpoint checkpoint_;
  kernels::Context context_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<state::StateStore> store_;
};

}  // namespace paceline::testing
