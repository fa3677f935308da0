#pragma once

#include <span>

#include "blocks/cpu_variants.h"
#include "blocks/stored_tensor.h"

namespace paceline::blocks {

/// Per file: the decoder of an encoding it owns, else null.
DecodeBlocks plain_decoder(Encoding encoding);   ///< f32 f16 bf16
DecodeBlocks legacy_decoder(Encoding encoding);  ///< q4_0 q4_1 q5_0 q5_1 q8_0
DecodeBlocks k_decoder(Encoding encoding);       ///< q2_k .. q6_k
DecodeBlocks table_decoder(Encoding encoding);   ///< iq4_nl iq4_xs mxfp4

/// Range and sizes are checked by the caller (decode_rows).
void decode_mlx(const StoredTensor& tensor, int64_t first, int64_t count, std::span<float> out);

/// Throws Error{invalid_argument} when the groups' byte ranges do not fit the shape.
void check_mlx(const StoredTensor& tensor);

}  // namespace paceline::blocks
