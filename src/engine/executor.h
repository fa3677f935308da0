#pragma once

#include <memory>
#include <span>
#include <vector>

#include "paceline/sampling.h"

namespace paceline::engine {

/// The state of one token sequence inside an Executor, which must outlive it.
class ExecutorSequence {
 public:
  virtual ~ExecutorSequence() = default;
};

/// What one row of a step evaluates: tokens that follow what the sequence already holds.
struct StepRow {
  ExecutorSequence* sequence = nullptr;
  std::span<const TokenId> tokens;
  bool wants_logits = false;  ///< of the last token
};

/// What one row of a probe evaluates.
struct ProbeRow {
  ExecutorSequence* sequence = nullptr;
  std::span<const TokenId> tokens;
  int32_t wanted = 1;  ///< logits of the last `wanted` tokens, at most tokens.size()
};

/// Runs forwards of one model. Engine thread only, destruction included.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::unique_ptr<ExecutorSequence> new_sequence() = 0;
  /// One forward over all rows. When it returns, the tokens are part of their sequences; when it
  /// throws, none is. Returns the logits of the rows that want them, in row order; valid until the
  /// next call.
  virtual std::vector<std::span<const float>> step(std::span<const StepRow> rows) = 0;
  /// One forward that leaves every sequence as it was: for measurements. Returns the wanted logits,
  /// row by row, [sum of wanted][vocab]; valid until the next call.
  virtual std::span<const float> probe(std::span<const ProbeRow> rows) = 0;
};

}  // namespace paceline::engine
