#pragma once

#include <cstdint>

#include "sampling/logit_row.h"
#include "sampling/rng.h"

namespace paceline::sampling {

/// argmax over the ids that `support` keeps of logit / temperature + gumbel(key, id), ties to the
/// lowest id: a sample of softmax(logits / temperature) restricted to the support. temperature > 0.
/// Blocks that an integer bound on the hash rules out are skipped; the result equals the full
/// search.
TokenId noisy_argmax(const LogitRow& row, double temperature, const Cut& support, DrawKey key);

}  // namespace paceline::sampling
