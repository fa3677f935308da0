#include "engine/vocab_from_metadata.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/error.h"

namespace paceline::engine {
namespace {

std::string key(std::string_view name) { return "tokenizer.ggml." + std::string(name); }

std::optional<int32_t> token_id(const formats::Metadata& metadata, std::string_view name) {
  const std::optional<int64_t> value = metadata.integer(key(name));
  if (!value || *value == std::numeric_limits<uint32_t>::max())
    return {};  // 2^32 - 1: converters' "none"
  if (*value < 0 || *value > std::numeric_limits<int32_t>::max()) {
    throw Error(ErrorCode::bad_checkpoint, "[gguf] " + key(name) + ": found " +
                                               std::to_string(*value) + ", expected a token id");
  }
  return static_cast<int32_t>(*value);
}

}  // namespace

text::GgufVocab vocab_from_metadata(const formats::Metadata& metadata) {
  text::GgufVocab vocab;
  vocab.model = metadata.string(key("model")).value_or("");
  vocab.pre = metadata.string(key("pre")).value_or("");
  if (const auto* tokens = metadata.strings(key("tokens"))) vocab.tokens = *tokens;
  if (const auto* merges = metadata.strings(key("merges"))) vocab.merges = *merges;
  vocab.types = metadata.integers(key("token_type")).value_or(std::vector<int64_t>{});
  vocab.scores = metadata.numbers(key("scores")).value_or(std::vector<double>{});
  vocab.bos = token_id(metadata, "bos_token_id");
  vocab.eos = token_id(metadata, "eos_token_id");
  vocab.eot = token_id(metadata, "eot_token_id");
  vocab.eom = token_id(metadata, "eom_token_id");
  vocab.unknown = token_id(metadata, "unknown_token_id");
  vocab.padding = token_id(metadata, "padding_token_id");
  vocab.add_bos = metadata.boolean(key("add_bos_token"));
  vocab.add_eos = metadata.boolean(key("add_eos_token"));
  vocab.add_space_prefix = metadata.boolean(key("add_space_prefix"));
  return vocab;
}

}  // namespace paceline::engine
