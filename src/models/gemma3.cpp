// Gemma 3 text models: sliding and full layers with rope bases of their own, q/k norms, norms
// before and after each half of a layer, scaled embeddings. Source: docs/models.md, "gemma3".
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "models/causal_decoder.h"
#include "models/family.h"

namespace paceline::models {
namespace {

constexpr int32_t kPattern = 6;         // every sixth layer is full unless the file says otherwise
constexpr double kLocalBase = 10000.0;  // rope base of sliding layers

struct GemmaConfig {
  DecoderConfig decoder;
  nn::RopeConfig local_rope;
  float norm_offset = 0.0F;  // safetensors store weights zero-centred, GGUF converters add the 1
  float embedding_scale = 1.0F;
  float logit_softcap = 0.0F;
  float attention_softcap = 0.0F;
};

/// The reference implementation multiplies by sqrt(H) rounded to bf16; GGUF's reference by sqrt(H)
/// in f32.
float embedding_scale(int32_t hidden, bool gguf) {
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(hidden)));
  if (gguf) return scale;
  uint32_t bits = 0;
  std::memcpy(&bits, &scale, sizeof bits);
  bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000U;  // round to nearest even
  float rounded = 0;
  std::memcpy(&rounded, &bits, sizeof rounded);
  return rounded;
}

/// GGUF's reference makes one exception, for the model with 62 layers.
float attention_scale(const ConfigReader& config, const DecoderConfig& c) {
  constexpr int32_t kLargestModelLayers = 62;
  double per_head = c.head_dim;
  if (!config.is_gguf()) per_head = config.number("query_pre_attn_scalar", "").value_or(256.0);
  if (config.is_gguf() && c.layers == kLargestModelLayers)
    per_head = static_cast<double>(c.hidden) / c.heads;
  return static_cast<float>(1.0 / std::sqrt(per_head));
}

/// Without layer_types every pattern-th layer is full.
void apply_pattern(const ConfigReader& config, DecoderConfig& c) {
  if (!config.is_gguf() && config.texts("layer_types")) return;
  const int32_t pattern =
      config.size_or(config.integer("sliding_window_pattern", "") ? "sliding_window_pattern"
                                                                  : "_sliding_window_pattern",
                     "attention.sliding_window_pattern", kPattern);
  const int32_t window = config.size_or("sliding_window", "attention.sliding_window", 4096);
  for (int32_t i = 0; i < c.layers; ++i)
    c.windows[static_cast<size_t>(i)] = (i + 1) % pattern == 0 ? 0 : window;
}

nn::RopeConfig read_local_rope(const ConfigReader& config, const DecoderConfig& c) {
  nn::RopeConfig rope;
  rope.dims = c.rope.dims;
  rope.base = config.number("rope_local_base_freq", "rope.freq_base_swa")
                  .value_or(config.number("", "rope.local.freq_base").value_or(kLocalBase));
  const auto local =
      config.is_gguf() ? nullptr : config.object("rope_parameters.sliding_attention");
  if (local) rope.base = local->number("rope_theta", "").value_or(rope.base);
  return rope;
}

void refuse_unhandled(const ConfigReader& config) {
  require_text(config, "hidden_activation", {"gelu_pytorch_tanh"});
  require_text(config, "hidden_act", {"gelu_pytorch_tanh"});
  require_flag(config, "attention_bias", false);
  require_flag(config, "use_bidirectional_attention", false);
  std::vector<std::string> known = common_gguf_keys();
  known.insert(known.end(),
               {"attention.sliding_window_pattern", "rope.freq_base_swa", "rope.local.freq_base",
                "attn_logit_softcapping", "final_logit_softcapping"});
  require_known_gguf_keys(config, known);
}

GemmaConfig read_config(const formats::Checkpoint& checkpoint) {
  const ConfigReader config(checkpoint);
  refuse_unhandled(config);
  GemmaConfig g;
  g.decoder = read_decoder_config(checkpoint, config,
                                  {.heads = 8, .kv_heads = 4, .head_dim = 256, .rope_base = 1e6});
  g.decoder.attention_scale = attention_scale(config, g.decoder);
  apply_pattern(config, g.decoder);
  g.local_rope = read_local_rope(config, g.decoder);
  g.norm_offset = config.is_gguf() ? 0.0F : 1.0F;
  g.embedding_scale = embedding_scale(g.decoder.hidden, config.is_gguf());
  g.logit_softcap = static_cast<float>(
      config.number("final_logit_softcapping", "final_logit_softcapping").value_or(0));
  g.attention_softcap = static_cast<float>(
      config.number("attn_logit_softcapping", "attn_logit_softcapping").value_or(0));
  return g;
}

Layout layout(const formats::Checkpoint& checkpoint) {
  const DecoderConfig c = read_config(checkpoint).decoder;
  Layout tensors = decoder_layout(c, {"input_layernorm", "post_attention_layernorm",
                                      "pre_feedforward_layernorm", "post_feedforward_layernorm"});
  for (int32_t i = 0; i < c.layers; ++i) {
    const std::string p = layer_prefix(i) + "self_attn.";
    tensors.insert(tensors.end(), {{.name = p + "q_norm.weight", .shape = {c.head_dim}},
                                   {.name = p + "k_norm.weight", .shape = {c.head_dim}}});
  }
  return tensors;
}

std::unique_ptr<nn::Block> load_block(Weights& weights, const GemmaConfig& g, int32_t layer,
                                      const kernels::RopeSpecPtr& rope) {
  const DecoderConfig& c = g.decoder;
  const std::string p = layer_prefix(layer);
  const auto norm = [&](const std::string& name) {
    return load_norm(weights, p + name, c.eps, g.norm_offset);
  };
  nn::Attention attention = load_attention(
      weights, {.config = c, .layer = layer, .rope = rope, .q_rows = {}, .k_rows = {}});
  attention.q_norm = norm("self_attn.q_norm");
  attention.k_norm = norm("self_attn.k_norm");
  attention.spec.softcap = g.attention_softcap;
  nn::SandwichBlock::Norms norms{.before_attention = norm("input_layernorm"),
                                 .after_attention = norm("post_attention_layernorm"),
                                 .before_mlp = norm("pre_feedforward_layernorm"),
                                 .after_mlp = norm("post_feedforward_layernorm")};
  return std::make_unique<nn::SandwichBlock>(
      std::move(norms), std::move(attention),
      load_mlp(weights, layer, kernels::Activation::gelu_tanh));
}

std::unique_ptr<Model> load(const formats::Checkpoint& checkpoint, const ModelOptions& options,
                            const Progress& progress) {
  const GemmaConfig g = read_config(checkpoint);
  const DecoderConfig& c = g.decoder;
  Weights weights(checkpoint, layout(checkpoint), options.context, progress);
  CausalDecoder::Parts parts = load_ends(weights, c, g.norm_offset);
  parts.embedding_scale = g.embedding_scale;
  parts.logit_softcap = g.logit_softcap;
  const kernels::RopeSpecPtr full_rope = nn::make_rope(c.rope);
  const kernels::RopeSpecPtr local_rope = nn::make_rope(g.local_rope);
  for (int32_t i = 0; i < c.layers; ++i) {
    const bool sliding = c.windows[static_cast<size_t>(i)] > 0;
    parts.blocks.push_back(load_block(weights, g, i, sliding ? local_rope : full_rope));
  }
  return std::make_unique<CausalDecoder>(
      c, std::move(parts), CausalDecoder::Facts{weights.parameters(), weights.resident_bytes()},
      options);
}

}  // namespace

Family gemma3_family() {
  return {
      .name = "gemma3", .model_types = {"gemma3", "gemma3_text"}, .layout = layout, .load = load};
}

}  // namespace paceline::models
