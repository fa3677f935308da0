#include "models/causal_decoder.h"

#include <algorithm>
#include <utility>

#include "kernels/norm.h"

namespace paceline::models {

namespace mx = mlx::core;

CausalDecoder::CausalDecoder(DecoderConfig config, Parts parts, Facts facts, ModelOptions options)
    : config_(std::move(config)),
      parts_(std::move(parts)),
      facts_(facts),
      options_(std::move(options)) {}

bool CausalDecoder::wants_tap(const std::string& name) const {
  return std::find(options_.taps.begin(), options_.taps.end(), name) != options_.taps.end();
}

ForwardResult CausalDecoder::forward(const state::Batch& batch, state::StateStore& store) {
  const kernels::Context& ctx = options_.context;
  std::map<std::string, mx::array> taps;
  mx::array x =
      kernels::embed(ctx, batch.tokens(), parts_.embedding, parts_.embedding_scale);  // [T, H]
  for (size_t i = 0; i < parts_.blocks.size(); ++i) {
    x = parts_.blocks[i]->forward(ctx, batch, store, static_cast<int32_t>(i), x);
    const std::string name = "layer." + std::to_string(i);
    if (wants_tap(name)) taps.emplace(name, x);
  }
  if (wants_tap("pre_norm")) taps.emplace("pre_norm", x);
  return {.hidden = parts_.norm(ctx, x), .taps = std::move(taps)};
}

mx::array CausalDecoder::unembed(const mx::array& hidden_rows) {
  const kernels::Context& ctx = options_.context;
  const mx::array logits = kernels::linear(ctx, hidden_rows, parts_.head);  // [R, vocab]
  return parts_.logit_softcap > 0 ? kernels::softcap(ctx, logits, parts_.logit_softcap) : logits;
}

nn::Attention load_attention(Weights& weights, const AttentionParts& parts) {
  const DecoderConfig& c = parts.config;
  const std::string p = layer_prefix(parts.layer) + "self_attn.";
  const int32_t window = c.windows[static_cast<size_t>(parts.layer)];
  nn::Attention attention{.heads = c.heads,
                          .kv_heads = c.kv_heads,
                          .head_dim = c.head_dim,
                          .q = weights.linear(p + "q_proj", parts.q_rows),
                          .k = weights.linear(p + "k_proj", parts.k_rows),
                          .v = weights.linear(p + "v_proj"),
                          .o = weights.linear(p + "o_proj"),
                          .q_norm = std::nullopt,
                          .k_norm = std::nullopt,
                          .rope = parts.rope,
                          .spec = {}};
  attention.spec.scale = c.attention_scale;
  attention.spec.mask = window > 0 ? kernels::Mask::sliding(window) : kernels::Mask::causal_only();
  return attention;
}

nn::GatedMlp load_mlp(Weights& weights, int32_t layer, kernels::Activation activation) {
  const std::string p = layer_prefix(layer) + "mlp.";
  return {.gate = weights.linear(p + "gate_proj"),
          .up = weights.linear(p + "up_proj"),
          .down = weights.linear(p + "down_proj"),
          .activation = activation};
}

nn::RmsNorm load_norm(Weights& weights, const std::string& name, float eps, float offset) {
  return {.weight = weights.required_vector(name + ".weight"), .eps = eps, .offset = offset};
}

CausalDecoder::Parts load_ends(Weights& weights, const DecoderConfig& config, float norm_offset) {
  const kernels::LinearWeight embedding = weights.matrix("model.embed_tokens");
  const kernels::LinearWeight head = config.tied ? embedding : weights.matrix("lm_head");
  return {.embedding = embedding,
          .embedding_scale = 1.0F,
          .blocks = {},
          .norm = load_norm(weights, "model.norm", config.eps, norm_offset),
          .head = head,
          .logit_softcap = 0.0F};
}

std::unique_ptr<Model> load_pre_norm_decoder(
    Weights& weights, const DecoderConfig& config, const ModelOptions& options,
    const std::function<nn::Attention(int32_t)>& attention) {
  CausalDecoder::Parts parts = load_ends(weights, config, 0.0F);
  for (int32_t i = 0; i < config.layers; ++i) {
    const std::string p = layer_prefix(i);
    parts.blocks.push_back(std::make_unique<nn::PreNormBlock>(
        load_norm(weights, p + "input_layernorm", config.eps, 0.0F), attention(i),
        load_norm(weights, p + "post_attention_layernorm", config.eps, 0.0F),
        load_mlp(weights, i, kernels::Activation::silu)));
  }
  const CausalDecoder::Facts facts{.parameters = weights.parameters(),
                                   .resident_bytes = weights.resident_bytes()};
  return std::make_unique<CausalDecoder>(config, std::move(parts), facts, options);
}

}  // namespace paceline::models
