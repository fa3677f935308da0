#pragma once

#include <cstdint>

#include "paceline/sampling.h"

namespace paceline::sampling {

/// Throws Error{invalid_argument} naming field, value and range. `vocab_size` bounds the ids of
/// logit_bias.
void validate(const SamplingOptions& options, int32_t vocab_size);

/// Whether the repeat, presence or frequency penalty changes anything.
bool has_penalties(const SamplingOptions& options);

/// A seed from the system's entropy, below 2^53 so that it survives JSON.
uint64_t random_seed();

}  // namespace paceline::sampling
