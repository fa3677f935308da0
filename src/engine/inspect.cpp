#include "paceline/inspect.h"

#include <algorithm>
#include <map>

#include "blocks/stored_tensor.h"
#include "engine/text_model.h"
#include "engine/vocab_from_metadata.h"
#include "formats/checkpoint.h"
#include "formats/model_defaults.h"
#include "models/config_reader.h"
#include "models/model.h"

namespace paceline {
namespace {

std::string type_name(const blocks::StoredTensor& tensor) {
  std::string name(blocks::info(tensor.encoding).name);
  if (!tensor.groups) return name;
  return name + " " + std::to_string(tensor.groups->bits) + "-bit g" +
         std::to_string(tensor.groups->group_size);
}

int64_t stored_bytes(const blocks::StoredTensor& tensor) {
  std::size_t bytes = tensor.data.size();
  if (tensor.groups) bytes += tensor.groups->scales.size() + tensor.groups->biases.size();
  return static_cast<int64_t>(bytes);
}

void add_types(const formats::Checkpoint& checkpoint, ModelReport& report) {
  std::map<std::string, ModelReport::TypeShare> shares;
  for (const auto& [name, tensor] : checkpoint.tensors) {
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
}

std::string tokenizer_kind(const formats::Checkpoint& checkpoint) {
  if (checkpoint.source == formats::Source::safetensors) {
    return checkpoint.tokenizer_json.empty() ? "none" : "tokenizer.json";
  }
  return text::vocab_kind(engine::vocab_from_metadata(checkpoint.metadata));
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
  models::TensorReport tensors;
  try {
    models::check_loadable(checkpoint);
  } catch (const Error& error) {
    report.problem = error.what();
  }
  try {
    tensors = models::check_tensors(checkpoint);
  } catch (const Error&) {
    // The configuration itself is refused: `problem` says why, and there is nothing to compare
    // with.
    tensors.architecture = checkpoint.architecture;
  }
  report.nearest_architecture = tensors.architecture;
  report.supported = models::is_supported(checkpoint.architecture);
  report.missing = std::move(tensors.missing);
  report.extra = std::move(tensors.extra);
  report.mis_shaped = std::move(tensors.mis_shaped);
  const models::ConfigReader config(checkpoint);
  report.context_trained = config.size_or("max_position_embeddings", "context_length", 0);
}

}  // namespace

ModelReport inspect(const std::filesystem::path& model) {
  const formats::Checkpoint checkpoint = formats::open_checkpoint(model);
  ModelReport report;
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
  return report;
}

}  // namespace paceline
