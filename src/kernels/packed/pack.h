#pragma once

#include <cstdint>

#include "blocks/stored_tensor.h"
#include "kernels/packed/layout.h"

namespace paceline::kernels::packed {

/// The layout for a tensor of two axes. Throws Error{unsupported} naming an encoding that no format
/// takes, Error{invalid_argument} when its bytes do not fit its shape.
Layout layout_of(const blocks::StoredTensor& tensor);

/// The rows of the tensor that go into a tile: lane i from stored row rows[i], or zeros for -1.
PackRows rows_of(const blocks::StoredTensor& tensor, const int64_t* rows);

/// Packs them; `tile` has layout.tile_bytes(columns) bytes, all of which are written.
void pack_tile(const Layout& layout, const PackRows& rows, uint8_t* tile);

}  // namespace paceline::kernels::packed
