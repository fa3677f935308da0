#pragma once

#include <cstdint>

#include "kernels/context.h"

namespace paceline::kernels {

struct NormArgs {
  const float* x;         ///< [rows, width]
  const float* weight;    ///< [width]
  const float* residual;  ///< [rows, width] or null
  float* out;
  int64_t width;
  float eps;
  float weight_offset;
};

struct LayerNormArgs {
  const float* x;       ///< [rows, width]
  const float* weight;  ///< [width]
  const float* bias;    ///< [width] or null
  float* out;
  int64_t width;
  float eps;
};

struct LogSoftmaxArgs {
  const float* x;  ///< [rows, width]
  float* out;
  int64_t width;
  float (*log)(float);  ///< not called by name: files of an instruction set use no library code
};

/// The functions of one instruction set over [begin, end): rows where there are arguments of rows,
/// else elements.
struct NormTable {
  void (*rms_norm)(const NormArgs& args, int64_t begin, int64_t end);
  void (*layer_norm)(const LayerNormArgs& args, int64_t begin, int64_t end);
  void (*log_softmax)(const LogSoftmaxArgs& args, int64_t begin, int64_t end);
  void (*add)(const float* a, const float* b, float* out, int64_t begin, int64_t end);
  void (*softcap)(const float* x, float cap, float* out, int64_t begin, int64_t end);
  void (*exp)(const float* x, float* out, int64_t begin, int64_t end);  ///< for tests
};
const NormTable& norm_table(Isa isa);

const NormTable& norm_table_generic();
const NormTable& norm_table_avx2();
const NormTable& norm_table_avx512();

}  // namespace paceline::kernels
