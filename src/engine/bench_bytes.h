#pragma once

#include <cstdint>

#include "formats/checkpoint.h"

namespace paceline::engine {

/// Bytes of the packed weights that a forward of one token reads: all of them, without an embedding
/// table that is not the head too. Its share is that of its bytes in the file.
int64_t step_bytes(const formats::Checkpoint& checkpoint, int64_t resident_bytes);

}  // namespace paceline::engine
