#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/decoder_config.h"
#include "models/model.h"
#include "nn/block.h"

namespace paceline::models {

/// Embedding, a stack of blocks, a final norm and a head: what decoder-only families have in common
/// at run time.
class CausalDecoder final : public Model {
 public:
  struct Parts {
    kernels::LinearWeight embedding;
    float embedding_scale = 1.0F;
    std::vector<std::unique_ptr<nn::Block>> blocks;
    nn::RmsNorm norm;
    kernels::LinearWeight head;  ///< the embedding where tied
    float logit_softcap = 0.0F;  ///< 0 = off
  };
  struct Facts {
    int64_t parameters = 0;
    int64_t resident_bytes = 0;
  };
  CausalDecoder(DecoderConfig config, Parts parts, Facts facts, ModelOptions options);

  ForwardResult forward(const state::Batch& batch, state::StateStore& store) override;
  mlx::core::array unembed(const mlx::core::array& hidden_rows) override;
  state::StateSpec state_spec() const override { return decoder_state_spec(config_); }
  int32_t vocab_size() const override { return config_.vocab; }
  int32_t context_trained() const override { return config_.context; }
  int64_t parameters() const override { return facts_.parameters; }
  int64_t resident_bytes() const override { return facts_.resident_bytes; }
  bool exact() const override { return !options_.context.portable; }

 private:
  bool wants_tap(const std::string& name) const;

  DecoderConfig config_;
  Parts parts_;
  Facts facts_;
  ModelOptions options_;
};

/// The attention of one layer with the usual names. `qk_rows`, if given, orders the rows of q and
/// of k.
struct AttentionParts {
  DecoderConfig config;
  int32_t layer = 0;
  kernels::RopeSpecPtr rope;
  std::vector<int32_t> q_rows, k_rows;
};
nn::Attention load_attention(Weights& weights, const AttentionParts& parts);
nn::GatedMlp load_mlp(Weights& weights, int32_t layer, kernels::Activation activation);
nn::RmsNorm load_norm(Weights& weights, const std::string& name, float eps, float offset);

/// Embedding, final norm and head with the usual names; blocks are empty.
CausalDecoder::Parts load_ends(Weights& weights, const DecoderConfig& config, float norm_offset);

/// The whole model of a family whose layers are nn::PreNormBlock; `attention` loads that of one
/// layer.
std::unique_ptr<Model> load_pre_norm_decoder(
    Weights& weights, const DecoderConfig& config, const ModelOptions& options,
    const std::function<nn::Attention(int32_t)>& attention);

}  // namespace paceline::models
