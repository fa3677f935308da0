#include "paceline/inspect.h"

#include <algorithm>
#include <map>
<<<<<<< HEAD
#include <utility>

#include "engine/engine_impl.h"
#include "engine/text_model.h"
#include "formats/checkpoint.h"
#include "formats/model_defaults.h"
    == == ==
    =

#include "blocks/stored_tensor.h"
#include "engine/text_model.h"
#include "formats/checkpoint.h"
#include "formats/model_defaults.h"
#include "models/config_reader.h"
        >>>>>>> engine
#include "models/model.h"

        namespace paceline{namespace {

<<<<<<< HEAD
            int64_t bytes_of(const blocks::StoredTensor& tensor){
                auto bytes = static_cast<int64_t>(tensor.data.size());
if (tensor.groups)
  bytes += static_cast<int64_t>(tensor.groups->scales.size() + tensor.groups->biases.size());
return bytes;
}

std::string type_of(const blocks::StoredTensor& tensor) {
  std::string type(blocks::info(tensor.encoding).name);
  if (!tensor.groups) return type;
  return type + " " + std::to_string(tensor.groups->bits) + "-bit g" +
         std::to_string(tensor.groups->group_size);
=======
            std::string type_name(const blocks::StoredTensor& tensor){
                std::string name(blocks::info(tensor.encoding).name);
if (!tensor.groups) return name;
return name + " " + std::to_string(tensor.groups->bits) + "-bit g" +
       std::to_string(tensor.groups->group_size);
}

int64_t stored_bytes(const blocks::StoredTensor& tensor) {
  std::size_t bytes = tensor.data.size();
  if (tensor.groups) bytes += tensor.groups->scales.size() + tensor.groups->biases.size();
  return static_cast<int64_t>(bytes);
>>>>>>> engine
}

void add_types(const formats::Checkpoint& checkpoint, ModelReport& report) {
  std::map<std::string, ModelReport::TypeShare> shares;
  for (const auto& [name, tensor] : checkpoint.tensors) {
<<<<<<< HEAD
    ModelReport::TypeShare& share = shares[type_of(tensor)];
    ++share.tensors;
    share.parameters += tensor.values();
    share.bytes += bytes_of(tensor);
  }
  for (auto& [type, share] : shares) {
    share.type = type;
    report.parameters += share.parameters;
    report.tensor_bytes += share.bytes;
    report.types.push_back(share);
  }
  std::stable_sort(report.types.begin(), report.types.end(),
                   [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
}

void compare_tensors(const formats::Checkpoint& checkpoint, ModelReport& report) {
  models::TensorReport tensors = models::check_tensors(checkpoint);
  report.nearest_architecture = std::move(tensors.architecture);
  report.missing = std::move(tensors.missing);
  report.extra = std::move(tensors.extra);
  report.mis_shaped = std::move(tensors.mis_shaped);
  report.supported = tensors.known;
=======
    ModelReport::TypeShare& share = shares[type_name(tensor)];
    share.tensors += 1;
    share.parameters += tensor.values();
    share.bytes += stored_bytes(tensor);
    report.parameters += tensor.values();
    report.tensor_bytes += stored_bytes(tensor);
  }
  for (auto& [type, share] : shares) {
    share.type = type;
    report.types.push_back(std::move(share));
  }
  std::stable_sort(report.types.begin(), report.types.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
>>>>>>> engine
}

std::string tokenizer_kind(const formats::Checkpoint& checkpoint) {
  if (checkpoint.source == formats::Source::safetensors) {
    return checkpoint.tokenizer_json.empty() ? "none" : "tokenizer.json";
  }
<<<<<<< HEAD
  const std::string model(checkpoint.metadata.string("tokenizer.ggml.model").value_or("none"));
  const auto pre = checkpoint.metadata.string("tokenizer.ggml.pre");
  if (model == "llama") return "sentencepiece";
  return pre ? model + " (pre " + std::string(*pre) + ")" : model;
}

// A report is worth giving without a tokenizer that this build can make.
void add_text(const formats::Checkpoint& checkpoint, ModelReport& report) {
  report.tokenizer = tokenizer_kind(checkpoint);
  report.has_chat_template = !formats::chat_template(checkpoint).empty();
  try {
    const engine::Vocabulary vocabulary = engine::build_vocabulary(checkpoint, {});
    report.vocab_size = vocabulary.tokenizer->vocab_size();
    for (const TokenId id : vocabulary.end_ids) {
      report.end_tokens.push_back({id, vocabulary.tokenizer->token_bytes(id)});
    }
  } catch (const Error& error) {
    report.tokenizer += std::string(": ") + error.what();
  }
}

=======
  const auto model = checkpoint.metadata.string("tokenizer.ggml.model");
  const auto pre = checkpoint.metadata.string("tokenizer.ggml.pre");
  if (!model) return "none";
  if (*model == "llama") return "sentencepiece";
  return std::string(*model) + (pre ? " (pre " + std::string(*pre) + ")" : "");
}

/// A tokenizer that cannot be built is worth reporting, not a reason to report nothing.
void add_text(const formats::Checkpoint& checkpoint, ModelReport& report) {
  report.tokenizer = tokenizer_kind(checkpoint);
  report.has_chat_template = !formats::chat_template(checkpoint).empty();
  if (report.tokenizer == "none") return;
  try {
    const engine::TextModel text = engine::build_text_model(checkpoint, {});
    report.vocab_size = text.tokenizer->vocab_size();
    for (const TokenId id : text.end_ids) {
      report.end_tokens.push_back({.id = id, .text = text.tokenizer->token_bytes(id)});
    }
  } catch (const Error& error) {
    report.tokenizer += std::string(", unusable: ") + error.what();
  }
}

void add_architecture(const formats::Checkpoint& checkpoint, ModelReport& report) {
  report.architecture = checkpoint.architecture;
  models::TensorReport tensors = models::check_tensors(checkpoint);
  report.nearest_architecture = tensors.architecture;
  report.supported = models::is_supported(checkpoint.architecture);
  report.missing = std::move(tensors.missing);
  report.extra = std::move(tensors.extra);
  report.mis_shaped = std::move(tensors.mis_shaped);
  const models::ConfigReader config(checkpoint);
  report.context_trained = config.size_or("max_position_embeddings", "context_length", 0);
}

>>>>>>> engine
}  // namespace

ModelReport inspect(const std::filesystem::path& model) {
  const formats::Checkpoint checkpoint = formats::open_checkpoint(model);
  ModelReport report;
<<<<<<< HEAD
  report.name = engine::model_name(model);
  report.format = checkpoint.source == formats::Source::gguf ? "gguf" : "safetensors";
  report.architecture = checkpoint.architecture;
  report.files = static_cast<int32_t>(checkpoint.files.size());
  for (const auto& file : checkpoint.files)
    report.file_bytes += static_cast<int64_t>(file->bytes().size());
  report.context_trained = formats::context_length(checkpoint);
  add_types(checkpoint, report);
  compare_tensors(checkpoint, report);
  add_text(checkpoint, report);
=======
  report.name = model.filename().empty() ? model.parent_path().filename().string()
                                         : model.filename().string();
  report.format = checkpoint.source == formats::Source::gguf ? "gguf" : "safetensors";
  report.files = static_cast<int32_t>(checkpoint.files.size());
  for (const auto& file : checkpoint.files) {
    report.file_bytes += static_cast<int64_t>(file->bytes().size());
  }
  add_types(checkpoint, report);
  add_text(checkpoint, report);
  add_architecture(checkpoint, report);
>>>>>>> engine
  return report;
}

}  // namespace paceline
