#pragma once

#include "formats/metadata.h"
#include "text/vocab.h"

namespace paceline::engine {

/// The tokenizer.ggml.* keys. Views into `metadata`. Throws Error{bad_checkpoint} for a key of
/// another kind or a token id that is none.
text::GgufVocab vocab_from_metadata(const formats::Metadata& metadata);

}  // namespace paceline::engine
