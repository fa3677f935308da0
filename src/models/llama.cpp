// Llama 1-3, Mistral, SmolLM2. Source: docs/models.md, "llama".
#include <string>
#include <vector>

#include "models/causal_decoder.h"
#include "models/family.h"
#include "paceline/error.h"

namespace paceline::models {
namespace {

void refuse_unhandled(const ConfigReader& config) {
  require_text(config, "hidden_act", {"silu", "swish"});
  require_flag(config, "rope_traditional", false);
  require_number(config, "num_local_experts", "expert_count", 0);
  require_number(config, "num_experts", "", 0);
  std::vector<std::string> known = common_gguf_keys();
  known.insert(known.end(), {"expert_count", "expert_used_count"});
  require_known_gguf_keys(config, known);
}

DecoderConfig read_config(const formats::Checkpoint& checkpoint) {
  const ConfigReader config(checkpoint);
  refuse_unhandled(config);
  return read_decoder_config(checkpoint, config, {});
}

Layout layout(const formats::Checkpoint& checkpoint) {
  const DecoderConfig c = read_config(checkpoint);
  const ConfigReader config(checkpoint);
  // A file that announces biases must have them; GGUF files do not announce.
  const bool attention_bias = config.boolean("attention_bias", "").value_or(false);
  const bool mlp_bias = config.boolean("mlp_bias", "").value_or(false);
  Layout tensors = decoder_layout(c, {"input_layernorm", "post_attention_layernorm"});
  const int64_t q = int64_t{c.heads} * c.head_dim;
  const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
  for (int32_t i = 0; i < c.layers; ++i) {
    const std::string p = layer_prefix(i);
    const auto bias = [&](const char* name, int64_t size, bool announced) {
      tensors.push_back({.name = p + name + ".bias", .shape = {size}, .optional = !announced});
    };
    bias("self_attn.q_proj", q, attention_bias);
    bias("self_attn.k_proj", kv, attention_bias);
    bias("self_attn.v_proj", kv, attention_bias);
    bias("self_attn.o_proj", c.hidden, attention_bias);
    bias("mlp.gate_proj", c.intermediate, mlp_bias);
    bias("mlp.up_proj", c.intermediate, mlp_bias);
    bias("mlp.down_proj", c.hidden, mlp_bias);
  }
  return tensors;
}

/// GGUF converters store q and k with adjacent rope pairs: stored row (head, pair, half) is row
/// (head, half, pair).
std::vector<int32_t> paired_rows(int32_t heads, int32_t head_dim) {
  std::vector<int32_t> rows;
  for (int32_t head = 0; head < heads; ++head) {
    for (int32_t half = 0; half < 2; ++half) {
      for (int32_t pair = 0; pair < head_dim / 2; ++pair)
        rows.push_back(head * head_dim + 2 * pair + half);
    }
  }
  return rows;
}

std::unique_ptr<Model> load(const formats::Checkpoint& checkpoint, const ModelOptions& options,
                            const Progress& progress) {
  const DecoderConfig c = read_config(checkpoint);
  const bool paired = checkpoint.source == formats::Source::gguf;
  if (paired && c.rope.dims != c.head_dim) {
    throw Error(ErrorCode::unsupported, "[llama] GGUF with " + std::to_string(c.rope.dims) +
                                            " rotated features of " + std::to_string(c.head_dim) +
                                            " per head");
  }
  Weights weights(checkpoint, layout(checkpoint), options.context, progress);
  const kernels::RopeSpecPtr rope = nn::make_rope(c.rope);
  const auto q_rows = paired ? paired_rows(c.heads, c.head_dim) : std::vector<int32_t>{};
  const auto k_rows = paired ? paired_rows(c.kv_heads, c.head_dim) : std::vector<int32_t>{};
  return load_pre_norm_decoder(weights, c, options, [&](int32_t layer) {
    return load_attention(
        weights, {.config = c, .layer = layer, .rope = rope, .q_rows = q_rows, .k_rows = k_rows});
  });
}

}  // namespace

Family llama_family() {
  return {.name = "llama", .model_types = {"llama", "mistral"}, .layout = layout, .load = load};
}

}  // namespace paceline::models
