#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "paceline/engine.h"
#include "paceline/export.h"

namespace paceline {

/// One forward: `rows` sequences that hold `context` tokens each take `tokens` new ones each. The
/// head runs for the last `logits` of them.
struct StepShape {
  int32_t rows = 1;     ///< 1 to 64
  int32_t tokens = 1;   ///< 1 to 4096; rows x tokens at most 8192
  int32_t context = 0;  ///< with the new tokens at most the engine's context
  int32_t logits = 1;   ///< 1 to tokens; rows x logits at most 1024
  bool operator==(const StepShape&) const = default;
};

/// How far a measurement is. Round 0 builds what is measured.
struct BenchProgress {
  int32_t round = 0;
  double fraction = 0;  ///< of this round, 1 at its end
};
/// Called between two measured runs, on the thread that measures; may take its time, may not throw.
/// False ends the measurement with Error{cancelled}.
using BenchCallback = std::function<bool(const BenchProgress&)>;

struct StepPlan {
  std::vector<StepShape> shapes;  ///< the distinct contexts x their most rows: at most 65536 tokens
  int32_t rounds = 5;             ///< 1 to 1000; each visits every shape once
  BenchCallback on_progress{};
};

/// Milliseconds of every run in the order of time; a visit of a fast shape has many.
struct StepTimes {
  StepShape shape;
  std::vector<double> ms;
};

/// Times forwards of the loaded model, without sampling and text, one entry per shape of the plan.
/// Waits for its turn among the engine's requests. The contexts are real forwards; a measured one
/// commits nothing, so the same tokens run again. Throws Error{invalid_argument} for a plan out of
/// range.
PACELINE_EXPORT std::vector<StepTimes> measure_steps(Engine& engine, const StepPlan& plan);

/// One operation at one shape, alone, over weights and keys that come from memory.
struct OperationTimes {
  std::string name;        ///< "linear Q4_K"
  std::string shape;       ///< "8960 x 1536"
  int32_t rows = 1;        ///< tokens
  double bytes = 0;        ///< that one call reads and writes
  double operations = 0;   ///< of one call; a multiply-add is two
  bool integer = false;    ///< its products are of int8 values
  std::vector<double> ms;  ///< of one call
};

/// What the arithmetic units reach in a loop over registers, all threads together, per second; a
/// multiply-add is two.
struct ArithmeticPeaks {
  double f32 = 0;
  double int8 = 0;  ///< 0: this instruction set has no such products
};

struct OperationPlan {
  int32_t threads = 0;  ///< as in LoadOptions
  std::string isa{};    ///< as in LoadOptions
  Numerics numerics = Numerics::fast;
  int32_t rounds = 5;  ///< 1 to 1000
  BenchCallback on_progress{};
};

struct OperationReport {
  std::string instruction_set;
  int32_t threads = 0;
  ArithmeticPeaks peaks;  ///< the best of all rounds
  std::vector<OperationTimes> operations;
};

/// Times the operations that models are made of; needs no model. Takes up to 4 GB of memory. Throws
/// Error{invalid_argument, unsupported}.
PACELINE_EXPORT OperationReport measure_operations(const OperationPlan& plan);

}  // namespace paceline
