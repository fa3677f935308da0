#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/context.h"

namespace paceline::engine {

/// One line of the operation table. run() does `calls` calls, each over weights or keys of its own,
/// so that they come from memory as in a step.
struct Operation {
  std::string name;
  std::string shape;
  int32_t rows = 1;
  double bytes = 0;       ///< of one call
  double operations = 0;  ///< of one call; a multiply-add is two
  bool integer = false;   ///< its products are of int8 values
  int32_t calls = 1;
  std::function<void()> run;
};

/// The shapes of the table; tests take smaller ones.
struct OperationSizes {
  int64_t outputs = 8960;  ///< the gate of a model of 1.5 B parameters
  int64_t inputs = 1536;   ///< a multiple of 256
  int32_t context = 4096;  ///< of the long attention; at least 512
  int32_t vocab = 151936;
  int64_t cold_bytes = int64_t{64} << 20;  ///< beyond the last cache of a few cores
};

/// What exists today: products per format and number of rows, the gated product, attention, RMS
/// norm, the draw of a token. Packs its weights now. Call and run on one thread: MLX streams belong
/// to the thread that made them.
std::vector<Operation> make_operations(const kernels::Context& ctx,
                                       const OperationSizes& sizes = {});

}  // namespace paceline::engine
