#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/executor.h"
#include "formats/checkpoint.h"
#include "paceline/engine.h"

namespace paceline::engine {

/// Settings that never change a result; tests vary them.
struct Tuning {
  int32_t prefill_tokens = 512;  ///< prompt tokens per step
  int32_t page_tokens = 64;      ///< tokens per page of K/V
};

/// What the engine tells about the model that runs.
struct ModelFacts {
  int32_t vocab_size = 0;  ///< rows of the head
  int32_t context_trained = 0;
  int32_t context = 0;  ///< tokens of one sequence that fit by model, request and memory
  int64_t parameters = 0;
  int64_t resident_bytes = 0;
  bool exact = false;
  std::string numerics;
  std::string instruction_set;
  int32_t threads = 0;
};

struct LoadedModel {
  std::unique_ptr<Executor> executor;
  ModelFacts facts;
};

/// Loads the checkpoint's weights. Call on the engine thread: MLX streams belong to the thread that
/// made them.
LoadedModel load_model_executor(std::shared_ptr<const formats::Checkpoint> checkpoint,
                                const LoadOptions& options, const Tuning& tuning);

}  // namespace paceline::engine
