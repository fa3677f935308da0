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

/// Splits the call into items (a few tokens of a row x one KV head) and these evenly over the
/// threads. Of an item that is cut the later blocks are kept one by one and merged in order
/// afterwards: the bits are the same.
void run_attend(const AttendCall& call);

}  // namespace paceline::kernels
