#include <cmath>
#include <optional>
#include <string>

#include "models/decoder_config.h"
#include "paceline/error.h"

namespace paceline::models {
namespace {

nn::RopeKind parse_kind(const std::string& text) {
  if (text.empty() || text == "default" || text == "none") return nn::RopeKind::plain;
  if (text == "linear") return nn::RopeKind::linear;
  if (text == "llama3") return nn::RopeKind::banded;
  if (text == "yarn") return nn::RopeKind::yarn;
  throw Error(ErrorCode::unsupported, "[config] rope scaling '" + text +
                                          "', expected one of default, linear, llama3, yarn");
}

/// Scaling settings as config.json states them in rope_scaling or rope_parameters.
void read_scaling(const ConfigReader& s, nn::RopeConfig& rope) {
  rope.kind = parse_kind(s.text("rope_type", "").value_or(s.text("type", "").value_or("")));
  rope.factor = s.number("factor", "").value_or(1.0);
  rope.original_context = s.number("original_max_position_embeddings", "")
                              .value_or(rope.kind == nn::RopeKind::banded ? 8192 : 4096);
  rope.low_freq_factor = s.number("low_freq_factor", "").value_or(1.0);
  rope.high_freq_factor = s.number("high_freq_factor", "").value_or(4.0);
  rope.beta_fast = s.number("beta_fast", "").value_or(32.0);
  rope.beta_slow = s.number("beta_slow", "").value_or(1.0);
  rope.mscale = s.number("mscale", "").value_or(1.0);
  rope.mscale_all_dim = s.number("mscale_all_dim", "").value_or(0.0);
  rope.attention_factor = s.number("attention_factor", "");
}

/// GGUF bakes llama3 scaling into the tensor rope_freqs: one divisor per pair.
void read_gguf_scaling(const formats::Checkpoint& checkpoint, const ConfigReader& config,
                       nn::RopeConfig& rope) {
  rope.dims = config.size_or("", "rope.dimension_count", 0);
  const std::string kind = config.text("", "rope.scaling.type").value_or("none");
  if (kind != "none") {
    rope.kind = parse_kind(kind);
    rope.factor = config.number("", "rope.scaling.factor").value_or(1.0);
    rope.original_context =
        config.number("", "rope.scaling.original_context_length").value_or(4096);
    rope.beta_fast = config.number("", "rope.scaling.yarn_beta_fast").value_or(32.0);
    rope.beta_slow = config.number("", "rope.scaling.yarn_beta_slow").value_or(1.0);
    // GGUF's factor multiplies what yarn gives; config.json's replaces it.
    const std::optional<double> magnitude = config.number("", "rope.scaling.attn_factor");
    if (magnitude && kind == "yarn")
      rope.attention_factor = *magnitude * (0.1 * std::log(rope.factor) + 1.0);
  }
  const blocks::StoredTensor* divisors = checkpoint.find("rope_freqs.weight");
  if (divisors == nullptr) return;
  std::vector<float> values(static_cast<size_t>(divisors->values()));
  blocks::decode_rows(*divisors, 0, divisors->rows(), values);
  rope.divisors.assign(values.begin(), values.end());
  if (rope.dims != 0 && rope.divisors.size() != static_cast<size_t>(rope.dims / 2)) {
    throw Error(ErrorCode::bad_checkpoint,
                "[gguf] tensor 'rope_freqs.weight' has " + std::to_string(values.size()) +
                    " values, expected " + std::to_string(rope.dims / 2));
  }
}

}  // namespace

nn::RopeConfig read_rope(const formats::Checkpoint& checkpoint, const ConfigReader& config,
                         double default_base, const std::string& layer_type) {
  nn::RopeConfig rope;
  rope.base = config.number("rope_theta", "rope.freq_base").value_or(default_base);
  if (config.is_gguf()) {
    read_gguf_scaling(checkpoint, config, rope);
    return rope;
  }
  std::unique_ptr<ConfigReader> scaling = config.object("rope_parameters." + layer_type);
  if (!scaling) scaling = config.object("rope_parameters");
  if (!scaling) scaling = config.object("rope_scaling");
  if (!scaling) return rope;
  rope.base = scaling->number("rope_theta", "").value_or(rope.base);
  read_scaling(*scaling, rope);
  return rope;
}

std::vector<std::string> common_gguf_keys() {
  return {"block_count",
          "context_length",
          "embedding_length",
          "feed_forward_length",
          "vocab_size",
          "attention.head_count",
          "attention.head_count_kv",
          "attention.key_length",
          "attention.value_length",
          "attention.layer_norm_rms_epsilon",
          "attention.sliding_window",
          "rope.dimension_count",
          "rope.freq_base",
          "rope.scaling.type",
          "rope.scaling.factor",
          "rope.scaling.original_context_length",
          "rope.scaling.finetuned",
          "rope.scaling.attn_factor",
          "rope.scaling.yarn_beta_fast",
          "rope.scaling.yarn_beta_slow"};
}

}  // namespace paceline::models
