#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paceline/export.h"

namespace paceline {

using TokenId = int32_t;

/// How the next token is chosen. Order: logit bias, penalties, top-k, temperature, top-p, min-p,
/// draw. Ranges are checked when a request is submitted: Error{invalid_argument} names field, value
/// and range.
struct SamplingOptions {
  float temperature = 0.7F;  ///< >= 0; 0 takes the most likely token (ties: lowest id)
  int32_t top_k = 0;         ///< 0 = off; keep the k most likely
  float top_p =
      0.95F;  ///< (0, 1]; 1 = off; smallest set whose probability reaches p, after temperature
  float min_p = 0.0F;  ///< [0, 1]; 0 = off; keep what is at least min_p times the most likely,
                       ///< after temperature
  float repeat_penalty = 1.0F;     ///< [0.01, 100]; 1 = off; logits of seen tokens are divided
                                   ///< (positive) or multiplied (negative)
  float presence_penalty = 0.0F;   ///< [-2, 2]; subtracted once for every seen token
  float frequency_penalty = 0.0F;  ///< [-2, 2]; subtracted per occurrence
  int32_t penalty_window =
      64;  ///< last tokens (prompt included) that penalties see; -1 = all, 0 = penalties off
  std::map<TokenId, float> logit_bias;  ///< added to the raw logit, [-100, 100]
  std::optional<uint64_t> seed;         ///< without one a seed is drawn and reported in Usage
};

}  // namespace paceline
