#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/rope.h"

namespace paceline::nn {

/// How frequencies are stretched for contexts longer than the base model's.
enum class RopeKind : uint8_t {
  plain,
  linear,  ///< every frequency divided by `factor`
  banded,  ///< long wavelengths stretched, short ones kept, those between interpolated
  yarn,    ///< arXiv 2309.00071
};

/// What a model file says about rotary embedding.
struct RopeConfig {
  int32_t dims = 0;  ///< rotated features of a head, even
  double base = 10000.0;
  RopeKind kind = RopeKind::plain;
  double factor = 1.0;
  double original_context = 0;                                                   ///< banded, yarn
  double low_freq_factor = 1.0, high_freq_factor = 4.0;                          ///< banded
  double beta_fast = 32.0, beta_slow = 1.0, mscale = 1.0, mscale_all_dim = 0.0;  ///< yarn
  std::optional<double> attention_factor;  ///< yarn: replaces the magnitude
  std::vector<double> divisors;  ///< [dims / 2]; frequencies are divided by them (GGUF rope_freqs)
};

/// Frequencies by the rules of docs/models.md ("Rope").
kernels::RopeSpecPtr make_rope(const RopeConfig& config);

}  // namespace paceline::nn
