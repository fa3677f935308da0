// Qwen2 and Qwen2.5: llama with biases on q, k and v. Source: docs/models.md, "qwen2".
#include <string>

#include "models/causal_decoder.h"
#include "models/family.h"

namespace paceline::models {
namespace {

DecoderConfig read_config(const formats::Checkpoint& checkpoint) {
  const ConfigReader config(checkpoint);
  require_text(config, "hidden_act", {"silu", "swish"});
  require_flag(config, "use_sliding_window", false);
  require_known_gguf_keys(config, common_gguf_keys());
  DecoderConfig c = read_decoder_config(checkpoint, config, {.rope_base = 1e6});
  // "sliding_window" stands in these files although use_sliding_window is false: every layer is
  // full.
  c.windows.assign(c.windows.size(), 0);
  return c;
}

Layout layout(const formats::Checkpoint& checkpoint) {
  const DecoderConfig c = read_config(checkpoint);
  Layout tensors = decoder_layout(c, {"input_layernorm", "post_attention_layernorm"});
  const int64_t q = int64_t{c.heads} * c.head_dim;
  const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
  for (int32_t i = 0; i < c.layers; ++i) {
    const std::string p = layer_prefix(i) + "self_attn.";
    tensors.insert(tensors.end(), {{.name = p + "q_proj.bias", .shape = {q}},
                                   {.name = p + "k_proj.bias", .shape = {kv}},
                                   {.name = p + "v_proj.bias", .shape = {kv}}});
  }
  return tensors;
}

std::unique_ptr<Model> load(const formats::Checkpoint& checkpoint, const ModelOptions& options,
                            const Progress& progress) {
  const DecoderConfig c = read_config(checkpoint);
  Weights weights(checkpoint, layout(checkpoint), options.context, progress);
  const kernels::RopeSpecPtr rope = nn::make_rope(c.rope);
  return load_pre_norm_decoder(weights, c, options, [&](int32_t layer) {
    return load_attention(weights,
                          {.config = c, .layer = layer, .rope = rope, .q_rows = {}, .k_rows = {}});
  });
}

}  // namespace

Family qwen2_family() {
  return {.name = "qwen2", .model_types = {"qwen2"}, .layout = layout, .load = load};
}

}  // namespace paceline::models
