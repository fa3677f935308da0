#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/context.h"

namespace paceline::kernels {

/// Rotary embedding of one kind of layer. Frequencies depend on the model alone, never on the
/// running length.
struct RopeSpec {
  std::vector<float>
      inverse_frequencies;   ///< [dims / 2]; angle of pair i at position p = float(p) * f[i]
  float magnitude = 1.0F;    ///< cos and sin are multiplied by it (yarn, longrope)
  bool interleaved = false;  ///< pairs (2i, 2i+1) instead of (i, i + dims/2)
};
using RopeSpecPtr = std::shared_ptr<const RopeSpec>;

/// Rotates the first 2 * inverse_frequencies.size() features of x [T, heads, D] f32; the rest
/// passes through. positions i32 [T]. cos and sin come from one function of (position, frequency),
/// evaluated in double and rounded.
mlx::core::array rope(const Context& ctx, const mlx::core::array& x,
                      const mlx::core::array& positions, const RopeSpecPtr& spec);

}  // namespace paceline::kernels
