#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/checkpoint.h"

namespace paceline::formats {

/// What a model's authors recommend: generation_config.json, or GGUF's general.sampling.* keys.
/// Values are as stored; the reader checks kinds, not ranges.
struct GenerationDefaults {
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<int64_t> top_k;
  std::vector<int32_t> end_ids;  ///< eos_token_id, one or several
};

/// Throws Error{bad_checkpoint} for malformed JSON or a value of another kind.
GenerationDefaults generation_defaults(const Checkpoint& checkpoint);

/// The model's chat template: chat_template.jinja, tokenizer_config.json ("default" of several) or
/// tokenizer.chat_template of GGUF; empty when there is none. Throws like generation_defaults().
std::string chat_template(const Checkpoint& checkpoint);

}  // namespace paceline::formats
