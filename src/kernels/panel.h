#pragma once

#include <cstdint>
#include <optional>

#include "kernels/context.h"
#include "kernels/packed/dot.h"
#include "kernels/weight_memory.h"

namespace paceline::kernels {

/// Memory that the products of one model use one after another; it grows to the greatest need.
class Workspace {
 public:
  uint8_t* bytes(int64_t count);

 private:
  std::optional<AlignedBytes> memory_;
};

/// x [rows, inputs] as codes, in ctx.workspace until the next panel. inputs: a multiple of 32.
packed::Panel make_panel(const Context& ctx, const float* x, int64_t rows, int64_t inputs);

}  // namespace paceline::kernels
