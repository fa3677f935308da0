#pragma once

#include <cstdint>
#include <vector>

#include "formats/checkpoint.h"
#include "models/config_reader.h"
#include "models/weights.h"
#include "nn/rope_scaling.h"
#include "state/state_spec.h"

namespace paceline::models {

/// What every decoder-only family states, whatever its file format.
struct DecoderConfig {
  int32_t layers = 0;
  int32_t hidden = 0;
  int32_t intermediate = 0;
  int32_t heads = 0;
  int32_t kv_heads = 0;
  int32_t head_dim = 0;
  int32_t vocab = 0;
  int32_t context = 0;  ///< 0 when the file does not say
  float eps = 1e-6F;
  float attention_scale = 1.0F;
  nn::RopeConfig rope;
  std::vector<int32_t> windows;  ///< per layer: tokens a sliding layer sees, 0 = full attention
  bool tied = false;             ///< no lm_head of its own
};

/// Values that a family fills in where a file is silent; 0 = the file must say.
struct DecoderDefaults {
  int32_t heads = 0;
  int32_t kv_heads = 0;  ///< 0 = as many as heads
  int32_t head_dim = 0;  ///< 0 = hidden / heads
  double rope_base = 10000.0;
  double eps = 1e-6;
};

/// Reads sizes, rope and windows (layer_types / sliding_window). Throws Error{bad_checkpoint,
/// unsupported}.
DecoderConfig read_decoder_config(const formats::Checkpoint& checkpoint, const ConfigReader& config,
                                  const DecoderDefaults& defaults);

/// Rope of the layers whose settings stand at the top level, in rope_scaling or in
/// rope_parameters[.layer_type].
nn::RopeConfig read_rope(const formats::Checkpoint& checkpoint, const ConfigReader& config,
                         double default_base, const std::string& layer_type);

/// GGUF settings (without the architecture prefix) that read_decoder_config() honours or that
/// change nothing.
std::vector<std::string> common_gguf_keys();

/// "model.layers.N."
std::string layer_prefix(int32_t layer);
/// Appends what most families have: embedding, final norm, optional head; per layer q k v o, MLP
/// and the given norms.
Layout decoder_layout(const DecoderConfig& config, const std::vector<std::string>& layer_norms);

state::StateSpec decoder_state_spec(const DecoderConfig& config);

}  // namespace paceline::models
