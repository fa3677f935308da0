#include "gguf_vocab.h"

namespace paceline::text {

GgufVocab gguf_vocab(const formats::Metadata& metadata) {
  const auto key = [](std::string_view name) { return "tokenizer.ggml." + std::string(name); };
  const auto id = [&](std::string_view name) -> std::optional<int32_t> {
    const auto value = metadata.integer(key(name));
    return value ? std::optional(static_cast<int32_t>(*value)) : std::nullopt;
  };
  GgufVocab vocab;
  vocab.model = metadata.string(key("model")).value_or("");
  vocab.pre = metadata.string(key("pre")).value_or("");
  if (const auto* tokens = metadata.strings(key("tokens"))) vocab.tokens = *tokens;
  if (const auto* merges = metadata.strings(key("merges"))) vocab.merges = *merges;
  vocab.types = metadata.integers(key("token_type")).value_or(std::vector<int64_t>{});
  vocab.scores = metadata.numbers(key("scores")).value_or(std::vector<double>{});
  vocab.bos = id("bos_token_id");
  vocab.eos = id("eos_token_id");
  vocab.eot = id("eot_token_id");
  vocab.eom = id("eom_token_id");
  vocab.unknown = id("unknown_token_id");
  vocab.padding = id("padding_token_id");
  vocab.add_bos = metadata.boolean(key("add_bos_token"));
  vocab.add_eos = metadata.boolean(key("add_eos_token"));
  vocab.add_space_prefix = metadata.boolean(key("add_space_prefix"));
  return vocab;
}

}  // namespace paceline::text
