#include <array>
#include <string_view>
#include <utility>

#include "models/weights.h"

namespace paceline::models {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array kGlobals = {
    Pair{"model.embed_tokens.weight", "token_embd.weight"},
    Pair{"model.norm.weight", "output_norm.weight"},
    Pair{"lm_head.weight", "output.weight"},
};

constexpr std::array kLayerParts = {
    Pair{"input_layernorm", "attn_norm"},
    Pair{"self_attn.q_proj", "attn_q"},
    Pair{"self_attn.k_proj", "attn_k"},
    Pair{"self_attn.v_proj", "attn_v"},
    Pair{"self_attn.o_proj", "attn_output"},
    Pair{"self_attn.q_norm", "attn_q_norm"},
    Pair{"self_attn.k_norm", "attn_k_norm"},
    Pair{"pre_feedforward_layernorm", "ffn_norm"},
    Pair{"post_feedforward_layernorm", "post_ffw_norm"},
    Pair{"mlp.gate_proj", "ffn_gate"},
    Pair{"mlp.up_proj", "ffn_up"},
    Pair{"mlp.down_proj", "ffn_down"},
};

/// post_attention_layernorm is the norm before the MLP in most families, the norm after attention
/// in Gemma: GGUF calls the first ffn_norm and the second post_attention_norm.
std::string_view post_attention_name(const formats::Checkpoint& checkpoint) {
  return checkpoint.find("blk.0.post_attention_norm.weight") != nullptr ? "post_attention_norm"
                                                                        : "ffn_norm";
}

std::string gguf_name(const formats::Checkpoint& checkpoint, std::string_view name) {
  for (const auto& [hf, gguf] : kGlobals) {
    if (name == hf) return std::string(gguf);
  }
  constexpr std::string_view kLayers = "model.layers.";
  if (name.substr(0, kLayers.size()) != kLayers) return std::string(name);
  name.remove_prefix(kLayers.size());
  const size_t dot = name.find('.');
  std::string prefix = "blk." + std::string(name.substr(0, dot)) + ".";
  name.remove_prefix(dot + 1);
  const size_t last = name.rfind('.');  // ".weight" or ".bias"
  const std::string_view part = name.substr(0, last);
  const std::string suffix(name.substr(last));
  if (part == "post_attention_layernorm")
    return prefix.append(post_attention_name(checkpoint)).append(suffix);
  for (const auto& [hf, gguf] : kLayerParts) {
    if (part == hf) return prefix.append(gguf).append(suffix);
  }
  return std::string(name);
}

/// Text-only exports and multimodal wrappers put different prefixes before the same names.
std::string folder_name(const formats::Checkpoint& checkpoint, const std::string& name) {
  constexpr std::array<std::string_view, 3> kModelPrefixes = {"model.", "language_model.model.",
                                                              "model.language_model."};
  constexpr std::string_view kModel = "model.";
  const bool inner = name.rfind(kModel, 0) == 0;
  if (!inner) {
    const std::string wrapped = "language_model." + name;
    return checkpoint.find(wrapped) != nullptr ? wrapped : name;
  }
  const std::string rest = name.substr(kModel.size());
  for (const std::string_view prefix : kModelPrefixes) {
    const std::string candidate = std::string(prefix) + rest;
    if (checkpoint.find(candidate) != nullptr) return candidate;
  }
  return name;
}

}  // namespace

std::string stored_name(const formats::Checkpoint& checkpoint, const std::string& name) {
  return checkpoint.source == formats::Source::gguf ? gguf_name(checkpoint, name)
                                                    : folder_name(checkpoint, name);
}

}  // namespace paceline::models
