#pragma once

#include "formats/metadata.h"
#include "text/vocab.h"

namespace paceline::text {

/// The tokenizer.ggml.* part of a file; views point into it.
GgufVocab gguf_vocab(const formats::Metadata& metadata);

}  // namespace paceline::text
