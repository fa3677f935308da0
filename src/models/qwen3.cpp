// Qwen3 (dense): llama with RMS norms over each query and key head. Source: docs/models.md,
// "qwen3".
#include <string>

#include "models/causal_decoder.h"
#include "models/family.h"

namespace paceline::models {
namespace {

DecoderConfig read_config(const formats::Checkpoint& checkpoint) {
  const ConfigReader config(checkpoint);
  require_text(config, "hidden_act", {"silu", "swish"});
  require_flag(config, "use_sliding_window", false);
  require_flag(config, "attention_bias", false);
  require_number(config, "num_experts", "expert_count", 0);
  require_known_gguf_keys(config, common_gguf_keys());
  DecoderConfig c = read_decoder_config(checkpoint, config, {.head_dim = 128, .rope_base = 1e6});
  c.windows.assign(c.windows.size(),
                   0);  // "sliding_window" without use_sliding_window means nothing here
  return c;
}

Layout layout(const formats::Checkpoint& checkpoint) {
  const DecoderConfig c = read_config(checkpoint);
  Layout tensors = decoder_layout(c, {"input_layernorm", "post_attention_layernorm"});
  for (int32_t i = 0; i < c.layers; ++i) {
    const std::string p = layer_prefix(i) + "self_attn.";
    tensors.insert(tensors.end(), {{.name = p + "q_norm.weight", .shape = {c.head_dim}},
                                   {.name = p + "k_norm.weight", .shape = {c.head_dim}}});
  }
  return tensors;
}

std::unique_ptr<Model> load(const formats::Checkpoint& checkpoint, const ModelOptions& options,
                            const Progress& progress) {
  const DecoderConfig c = read_config(checkpoint);
  Weights weights(checkpoint, layout(checkpoint), options.context, progress);
  const kernels::RopeSpecPtr rope = nn::make_rope(c.rope);
  return load_pre_norm_decoder(weights, c, options, [&](int32_t layer) {
    nn::Attention attention = load_attention(
        weights, {.config = c, .layer = layer, .rope = rope, .q_rows = {}, .k_rows = {}});
    attention.q_norm = load_norm(weights, layer_prefix(layer) + "self_attn.q_norm", c.eps, 0.0F);
    attention.k_norm = load_norm(weights, layer_prefix(layer) + "self_attn.k_norm", c.eps, 0.0F);
    return attention;
  });
}

}  // namespace

Family qwen3_family() {
  return {.name = "qwen3", .model_types = {"qwen3"}, .layout = layout, .load = load};
}

}  // namespace paceline::models
