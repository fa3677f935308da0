#pragma once

#include "kernels/attend_spec.h"
#include "kernels/context.h"

namespace paceline::kernels {

/// One call of attend() over raw memory. q [T, heads, key_dim], out [T, heads, value_dim].
struct AttendCall {
  const Context& ctx;
  const RowTable& table;
  const KvDesc& desc;
  const AttendSpec& spec;
  const float* q;
  float* out;
  int heads;
};

/// Splits the call into items (a few tokens of a row x one KV head), and, when there are too few of
/// them, each item into ranges of key blocks, whose contributions are kept and merged in order
/// afterwards. The bits are the same.
void run_attend(const AttendCall& call);

}  // namespace paceline::kernels
