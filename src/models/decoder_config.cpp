#include "models/decoder_config.h"

#include <cmath>

#include "paceline/error.h"

namespace paceline::models {
namespace {

constexpr int32_t kLayersMax =
    4096;  // far above any model; bounds what a small hostile file can ask for

int32_t vocab_of(const formats::Checkpoint& checkpoint, const ConfigReader& config) {
  const blocks::StoredTensor* table =
      checkpoint.find(stored_name(checkpoint, "model.embed_tokens.weight"));
  const auto rows = static_cast<int32_t>(table == nullptr ? 0 : table->rows());
  return config.size_or("vocab_size", "", rows);
}

/// layer_types (explicit) or one window for all layers.
std::vector<int32_t> windows_of(const ConfigReader& config, int32_t layers) {
  const int32_t window = config.size_or("sliding_window", "attention.sliding_window", 0);
  const auto types = config.is_gguf() ? std::nullopt : config.texts("layer_types");
  if (!types) return std::vector<int32_t>(static_cast<size_t>(layers), window);
  if (types->size() != static_cast<size_t>(layers)) {
    throw Error(ErrorCode::bad_checkpoint, "[config] 'layer_types' has " +
                                               std::to_string(types->size()) +
                                               " entries, expected " + std::to_string(layers));
  }
  std::vector<int32_t> windows;
  for (const std::string& type : *types) {
    if (type != "full_attention" && type != "sliding_attention") {
      throw Error(ErrorCode::unsupported, "[config] layer type '" + type +
                                              "', expected full_attention or sliding_attention");
    }
    if (type == "sliding_attention" && window == 0) {
      throw Error(ErrorCode::bad_checkpoint, "[config] sliding layers without 'sliding_window'");
    }
    windows.push_back(type == "sliding_attention" ? window : 0);
  }
  return windows;
}

/// Values that would give NaN or a broken softmax much later, without a word.
void check_numbers(const DecoderConfig& c) {
  const auto refuse = [](const char* what, double found, const char* expected) {
    throw Error(ErrorCode::bad_checkpoint, std::string("[config] ") + what + " is " +
                                               std::to_string(found) + ", expected " + expected);
  };
  if (!(c.eps >= 0) || !std::isfinite(c.eps)) refuse("norm epsilon", c.eps, "a number >= 0");
  if (!(c.rope.base > 0)) refuse("rope base", c.rope.base, "a number > 0");
  if (!(c.rope.factor > 0)) refuse("rope factor", c.rope.factor, "a number > 0");
  if (!std::isfinite(c.attention_scale)) refuse("attention scale", c.attention_scale, "a number");
}

void check_heads(const DecoderConfig& c) {
  if (c.heads % c.kv_heads != 0) {
    throw Error(ErrorCode::bad_checkpoint, "[config] " + std::to_string(c.heads) +
                                               " query heads are not a multiple of " +
                                               std::to_string(c.kv_heads) + " key-value heads");
  }
  if (c.rope.dims <= 0 || c.rope.dims % 2 != 0 || c.rope.dims > c.head_dim) {
    throw Error(ErrorCode::bad_checkpoint, "[config] " + std::to_string(c.rope.dims) +
                                               " rotated features of a head of " +
                                               std::to_string(c.head_dim));
  }
}

}  // namespace

DecoderConfig read_decoder_config(const formats::Checkpoint& checkpoint, const ConfigReader& config,
                                  const DecoderDefaults& defaults) {
  DecoderConfig c;
  c.layers = config.size("num_hidden_layers", "block_count");
  if (c.layers > kLayersMax) {
    throw Error(ErrorCode::bad_checkpoint, "[config] " + std::to_string(c.layers) +
                                               " layers, expected at most " +
                                               std::to_string(kLayersMax));
  }
  c.hidden = config.size("hidden_size", "embedding_length");
  c.intermediate = config.size("intermediate_size", "feed_forward_length");
  c.heads = defaults.heads > 0
                ? config.size_or("num_attention_heads", "attention.head_count", defaults.heads)
                : config.size("num_attention_heads", "attention.head_count");
  const int32_t kv_default = defaults.kv_heads > 0 ? defaults.kv_heads : c.heads;
  c.kv_heads = config.size_or("num_key_value_heads", "attention.head_count_kv", kv_default);
  const int32_t dim_default = defaults.head_dim > 0 ? defaults.head_dim : c.hidden / c.heads;
  c.head_dim = config.size_or("head_dim", "attention.key_length", dim_default);
  if (config.is_gguf()) require_number(config, "", "attention.value_length", c.head_dim);
  c.vocab = vocab_of(checkpoint, config);
  c.context = config.size_or("max_position_embeddings", "context_length", 0);
  c.eps = static_cast<float>(
      config.number("rms_norm_eps", "attention.layer_norm_rms_epsilon").value_or(defaults.eps));
  c.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.head_dim)));
  c.rope = read_rope(checkpoint, config, defaults.rope_base, "full_attention");
  if (c.rope.dims == 0) {
    c.rope.dims =
        static_cast<int32_t>(c.head_dim * config.number("partial_rotary_factor", "").value_or(1.0));
  }
  c.windows = windows_of(config, c.layers);
  c.tied = checkpoint.find(stored_name(checkpoint, "lm_head.weight")) == nullptr;
  check_heads(c);
  check_numbers(c);
  return c;
}

std::string layer_prefix(int32_t layer) { return "model.layers." + std::to_string(layer) + "."; }

Layout decoder_layout(const DecoderConfig& c, const std::vector<std::string>& layer_norms) {
  const int64_t h = c.hidden;
  const int64_t q = int64_t{c.heads} * c.head_dim;
  const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
  Layout layout = {{.name = "model.embed_tokens.weight", .shape = {c.vocab, h}},
                   {.name = "model.norm.weight", .shape = {h}},
                   {.name = "lm_head.weight", .shape = {c.vocab, h}, .optional = true}};
  for (int32_t i = 0; i < c.layers; ++i) {
    const std::string p = layer_prefix(i);
    layout.insert(layout.end(),
                  {{.name = p + "self_attn.q_proj.weight", .shape = {q, h}},
                   {.name = p + "self_attn.k_proj.weight", .shape = {kv, h}},
                   {.name = p + "self_attn.v_proj.weight", .shape = {kv, h}},
                   {.name = p + "self_attn.o_proj.weight", .shape = {h, q}},
                   {.name = p + "mlp.gate_proj.weight", .shape = {c.intermediate, h}},
                   {.name = p + "mlp.up_proj.weight", .shape = {c.intermediate, h}},
                   {.name = p + "mlp.down_proj.weight", .shape = {h, c.intermediate}}});
    for (const std::string& norm : layer_norms)
      layout.push_back({.name = p + norm + ".weight", .shape = {h}});
  }
  return layout;
}

state::StateSpec decoder_state_spec(const DecoderConfig& c) {
  state::StateSpec spec;
  for (const int32_t window : c.windows) {
    spec.push_back({.kind = window > 0 ? state::LayerKind::sliding : state::LayerKind::full,
                    .kv_heads = c.kv_heads,
                    .key_dim = c.head_dim,
                    .value_dim = c.head_dim,
                    .window = window});
  }
  return spec;
}

}  // namespace paceline::models
