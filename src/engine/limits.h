#pragma once

#include <cstdint>

#include "formats/checkpoint.h"

namespace paceline::engine {

/// The context a model runs with: what was asked for, else the trained one but at most 8192.
/// Throws Error{invalid_argument} when more is asked for than the model was trained for.
int32_t resolve_context(int32_t asked, int32_t trained);

/// Throws Error{out_of_memory} with both numbers when the weights need more memory than the
/// system has left (packed, or unpacked to f32 on the portable path). Does nothing where the system
/// does not say.
void check_weights_fit(const formats::Checkpoint& checkpoint, bool portable);

/// The same for the keys and values of one sequence of `context` tokens.
void check_context_fits(int32_t context, int64_t bytes);

}  // namespace paceline::engine
