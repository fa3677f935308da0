#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/decoder_config.h"
#include "models/model.h"
#include "paceline/error.h"
#include "support/error_of.h"

using namespace paceline;
using nlohmann::json;
using support::error_of;

namespace {

json small_config() {
  return {{"hidden_size", 8},         {"num_hidden_layers", 1},
          {"intermediate_size", 16},  {"num_attention_heads", 2},
          {"num_key_value_heads", 1}, {"vocab_size", 10},
          {"rms_norm_eps", 1e-5},     {"head_dim", 4},
          {"hidden_act", "silu"},     {"max_position_embeddings", 64}};
}

/// A folder's description without any file behind it; `change` edits config.json.
formats::Checkpoint folder(const std::string& model_type, const json& change = json::object()) {
  formats::Checkpoint checkpoint;
  checkpoint.source = formats::Source::safetensors;
  checkpoint.architecture = model_type;
  json config = small_config();
  config.merge_patch(change);
  checkpoint.config_json = config.dump();
  return checkpoint;
}

formats::Checkpoint gguf(const std::string& architecture) {
  formats::Checkpoint checkpoint;
  checkpoint.source = formats::Source::gguf;
  checkpoint.architecture = architecture;
  const auto number = [&](const std::string& key, uint64_t value) {
    checkpoint.metadata.insert(architecture + "." + key, value);
  };
  number("embedding_length", 8);
  number("block_count", 1);
  number("feed_forward_length", 16);
  number("attention.head_count", 2);
  number("attention.head_count_kv", 1);
  checkpoint.metadata.insert(architecture + ".attention.layer_norm_rms_epsilon", 1e-5);
  return checkpoint;
}

const float kZeros[256] = {};

void add_tensor(formats::Checkpoint& checkpoint, const std::string& name,
                std::vector<int64_t> shape) {
  blocks::StoredTensor tensor{
      .name = name, .encoding = blocks::Encoding::f32, .shape = std::move(shape)};
  tensor.data = std::as_bytes(std::span(kZeros, static_cast<size_t>(tensor.values())));
  checkpoint.tensors[name] = tensor;
}

void add_layout(formats::Checkpoint& checkpoint,
                const std::string& norm_of_mlp = "post_attention_layernorm") {
  add_tensor(checkpoint, "model.embed_tokens.weight", {10, 8});
  add_tensor(checkpoint, "model.norm.weight", {8});
  const std::string p = "model.layers.0.";
  add_tensor(checkpoint, p + "input_layernorm.weight", {8});
  add_tensor(checkpoint, p + norm_of_mlp + ".weight", {8});
  add_tensor(checkpoint, p + "self_attn.q_proj.weight", {8, 8});
  add_tensor(checkpoint, p + "self_attn.k_proj.weight", {4, 8});
  add_tensor(checkpoint, p + "self_attn.v_proj.weight", {4, 8});
  add_tensor(checkpoint, p + "self_attn.o_proj.weight", {8, 8});
  add_tensor(checkpoint, p + "mlp.gate_proj.weight", {16, 8});
  add_tensor(checkpoint, p + "mlp.up_proj.weight", {16, 8});
  add_tensor(checkpoint, p + "mlp.down_proj.weight", {8, 16});
}

models::ModelOptions options() {
  return {.context = kernels::make_context(1, kernels::detect_isa(), false), .taps = {}};
}

void check_refused(const formats::Checkpoint& checkpoint, ErrorCode code,
                   const std::string& named) {
  const auto failure = error_of([&] { models::load_model(checkpoint, options()); });
  CAPTURE(failure.text);
  CHECK(failure.code == code);
  CHECK(failure.text.find(named) != std::string::npos);
}

}  // namespace

TEST_CASE("a complete small model loads and says what it is") {
  formats::Checkpoint checkpoint = folder("llama");
  add_layout(checkpoint);
  std::vector<double> progress;
  const auto model =
      models::load_model(checkpoint, options(), [&](double done) { progress.push_back(done); });
  CHECK(model->vocab_size() == 10);
  CHECK(model->context_trained() == 64);
  CHECK(model->parameters() == 10 * 8 + 8 * 3 + 8 * 8 * 2 + 4 * 8 * 2 + 16 * 8 * 3);
  CHECK(model->exact());
  CHECK(model->state_spec().size() == 1);
  REQUIRE_FALSE(progress.empty());
  CHECK(progress.back() == 1.0);
}

TEST_CASE("an unknown architecture is refused with the known ones") {
  check_refused(folder("mamba"), ErrorCode::unsupported,
                "expected one of llama, qwen2, qwen3, gemma3");
}

TEST_CASE("settings that change the maths and are not handled are refused by name") {
  check_refused(folder("llama", {{"hidden_act", "gelu"}}), ErrorCode::unsupported,
                "'hidden_act' is 'gelu'");
  check_refused(folder("llama", {{"num_local_experts", 8}}), ErrorCode::unsupported,
                "'num_local_experts'");
  check_refused(folder("llama", {{"rope_traditional", true}}), ErrorCode::unsupported,
                "'rope_traditional'");
  check_refused(folder("qwen2", {{"use_sliding_window", true}}), ErrorCode::unsupported,
                "'use_sliding_window'");
  check_refused(folder("qwen3", {{"attention_bias", true}}), ErrorCode::unsupported,
                "'attention_bias'");
  check_refused(folder("gemma3_text", {{"hidden_act", nullptr}, {"hidden_activation", "gelu"}}),
                ErrorCode::unsupported, "'hidden_activation'");
  check_refused(folder("llama", {{"rope_scaling", {{"rope_type", "spiral"}}}}),
                ErrorCode::unsupported, "'spiral'");
  formats::Checkpoint file = gguf("llama");
  file.metadata.insert("llama.attention.clamp_kqv", 8.0);
  check_refused(file, ErrorCode::unsupported, "'attention.clamp_kqv'");
  formats::Checkpoint experts = gguf("llama");
  experts.metadata.insert("llama.expert_count", uint64_t{8});
  check_refused(experts, ErrorCode::unsupported, "'expert_count'");
}

TEST_CASE("missing, impossible and mistyped settings are refused by name") {
  check_refused(folder("llama", {{"hidden_size", nullptr}}), ErrorCode::bad_checkpoint,
                "'hidden_size' is missing");
  check_refused(folder("llama", {{"hidden_size", "8"}}), ErrorCode::bad_checkpoint,
                "expected an integer");
  check_refused(folder("llama", {{"hidden_size", -8}}), ErrorCode::bad_checkpoint,
                "'hidden_size' is -8");
  check_refused(folder("llama", {{"num_hidden_layers", 5000000000LL}}), ErrorCode::bad_checkpoint,
                "5000000000");
  check_refused(folder("llama", {{"num_hidden_layers", 4097}}), ErrorCode::bad_checkpoint,
                "4097 layers");
  check_refused(folder("llama", {{"num_key_value_heads", 3}}), ErrorCode::bad_checkpoint,
                "not a multiple of 3");
  check_refused(folder("llama", {{"rope_theta", 0}}), ErrorCode::bad_checkpoint, "rope base");
  check_refused(folder("llama", {{"rms_norm_eps", -1}}), ErrorCode::bad_checkpoint, "norm epsilon");
  check_refused(folder("llama", {{"rope_scaling", {{"type", "linear"}, {"factor", 0}}}}),
                ErrorCode::bad_checkpoint, "rope factor");
  check_refused(folder("llama", {{"head_dim", 3}}), ErrorCode::bad_checkpoint, "rotated features");
  check_refused(folder("llama", {{"layer_types", {"full_attention", "full_attention"}}}),
                ErrorCode::bad_checkpoint, "'layer_types' has 2 entries, expected 1");
  check_refused(folder("llama", {{"layer_types", {"linear_attention"}}}), ErrorCode::unsupported,
                "'linear_attention'");
  check_refused(folder("llama", {{"layer_types", {"sliding_attention"}}}),
                ErrorCode::bad_checkpoint, "without 'sliding_window'");
  formats::Checkpoint none = folder("llama");
  none.config_json = "[]";
  check_refused(none, ErrorCode::bad_checkpoint, "not a JSON object");
}

TEST_CASE("missing and mis-shaped tensors are named, extra ones reported") {
  formats::Checkpoint checkpoint = folder("llama");
  check_refused(checkpoint, ErrorCode::bad_checkpoint,
                "missing tensors: model.embed_tokens.weight");
  add_layout(checkpoint);
  add_tensor(checkpoint, "model.layers.0.mlp.up_proj.weight", {8, 16});
  check_refused(checkpoint, ErrorCode::bad_checkpoint,
                "model.layers.0.mlp.up_proj.weight: found [8, 16], expected [16, 8]");
  add_tensor(checkpoint, "surprise", {1});
  add_tensor(checkpoint, "model.layers.0.self_attn.rotary_emb.inv_freq", {2});
  const models::TensorReport report = models::check_tensors(checkpoint);
  CHECK(report.architecture == "llama");
  CHECK(report.extra == std::vector<std::string>{"surprise"});
  CHECK(report.mis_shaped.size() == 1);
  CHECK(report.missing.empty());
}

TEST_CASE("a tensor inside a layer that the architecture does not read is refused") {
  formats::Checkpoint checkpoint = folder("llama");
  add_layout(checkpoint);
  add_tensor(checkpoint, "vision_tower.layers.0.sinks", {2});
  CHECK_NOTHROW(models::load_model(checkpoint, options()));
  add_tensor(checkpoint, "model.layers.0.self_attn.sinks", {2});
  check_refused(checkpoint, ErrorCode::unsupported, "'model.layers.0.self_attn.sinks'");
}

TEST_CASE("announced biases must be there") {
  formats::Checkpoint checkpoint = folder("llama", {{"mlp_bias", true}});
  add_layout(checkpoint);
  check_refused(checkpoint, ErrorCode::bad_checkpoint, "model.layers.0.mlp.gate_proj.bias");
}

TEST_CASE("a file of an unknown architecture is compared with the nearest known one") {
  formats::Checkpoint checkpoint = folder("novelty");
  add_layout(checkpoint);
  for (const char* name : {"q_norm", "k_norm"}) {
    add_tensor(checkpoint, std::string("model.layers.0.self_attn.") + name + ".weight", {4});
  }
  const models::TensorReport report = models::check_tensors(checkpoint);
  CHECK(report.architecture == "qwen3");
  CHECK(report.missing.empty());
}

TEST_CASE("multimodal folders keep their text model under a prefix") {
  formats::Checkpoint checkpoint = folder("llama");
  const json inner = json::parse(checkpoint.config_json);
  checkpoint.config_json = json{{"text_config", inner}, {"hidden_size", 999}}.dump();
  add_layout(checkpoint);
  std::map<std::string, blocks::StoredTensor, std::less<>> renamed;
  for (auto& [name, tensor] : checkpoint.tensors) renamed["language_model." + name] = tensor;
  checkpoint.tensors = renamed;
  CHECK(models::load_model(checkpoint, options())->vocab_size() == 10);
}
