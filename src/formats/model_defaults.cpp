#include "formats/model_defaults.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "formats/file_context.h"
#include "formats/strict_json.h"

namespace paceline::formats {
namespace {

using Json = nlohmann::json;

// A key that is absent or null.
const Json* find(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::optional<double> number(const Json& object, const char* key, const FileContext& file) {
  const Json* value = find(object, key);
  if (value == nullptr) return {};
  if (!value->is_number())
    file.bad(std::string(key) + ": found " + value->type_name() + ", expected a number");
  return value->get<double>();
}

int32_t token_id(const Json& value, const FileContext& file) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (!value.is_number_integer() || value.get<int64_t>() < 0 || value.get<int64_t>() > kMax) {
    file.bad("eos_token_id: found " + shown(value.dump()) + ", expected a token id");
  }
  return static_cast<int32_t>(value.get<int64_t>());
}

std::vector<int32_t> end_ids(const Json& config, const FileContext& file) {
  std::vector<int32_t> found;
  const Json* ids = find(config, "eos_token_id");
  if (ids == nullptr) return found;
  if (!ids->is_array()) return {token_id(*ids, file)};
  for (const Json& id : *ids) found.push_back(token_id(id, file));
  return found;
}

// config.json states end tokens too, in multimodal models inside text_config;
// generation_config.json goes first.
std::vector<int32_t> end_ids_of_config(const std::string& text) {
  const FileContext file("config", "config.json");
  const Json config = parse_object(text, file);
  std::vector<int32_t> found = end_ids(config, file);
  const Json* inner = find(config, "text_config");
  if (found.empty() && inner != nullptr && inner->is_object()) found = end_ids(*inner, file);
  return found;
}

GenerationDefaults from_json(const std::string& text) {
  const FileContext file("config", "generation_config.json");
  const Json config = parse_object(text, file);
  GenerationDefaults defaults;
  defaults.temperature = number(config, "temperature", file);
  defaults.top_p = number(config, "top_p", file);
  defaults.min_p = number(config, "min_p", file);
  defaults.repetition_penalty = number(config, "repetition_penalty", file);
  if (const auto top_k = number(config, "top_k", file))
    defaults.top_k = static_cast<int64_t>(*top_k);
  defaults.end_ids = end_ids(config, file);
  return defaults;
}

GenerationDefaults from_metadata(const Metadata& metadata) {
  GenerationDefaults defaults;
  defaults.temperature = metadata.number("general.sampling.temp");
  defaults.top_p = metadata.number("general.sampling.top_p");
  defaults.min_p = metadata.number("general.sampling.min_p");
  defaults.repetition_penalty = metadata.number("general.sampling.penalty_repeat");
  defaults.top_k = metadata.integer("general.sampling.top_k");
  return defaults;
}

// A string, or [{"name": .., "template": ..}, ..].
std::string template_of(const std::string& tokenizer_config) {
  const FileContext file("config", "tokenizer_config.json");
  const Json config = parse_object(tokenizer_config, file);
  const Json* value = find(config, "chat_template");
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  if (!value->is_array())
    file.bad(std::string("chat_template: found ") + value->type_name() + ", expected a string");
  for (const Json& entry : *value) {
    if (!entry.is_object() || !entry.contains("template") || !entry["template"].is_string()) {
      file.bad("chat_template: found " + shown(entry.dump()) + ", expected {name, template}");
    }
    if (entry.value("name", Json()) == "default") return entry["template"].get<std::string>();
  }
  return {};
}

}  // namespace

GenerationDefaults generation_defaults(const Checkpoint& checkpoint) {
  if (checkpoint.source == Source::gguf) return from_metadata(checkpoint.metadata);
  GenerationDefaults defaults;
  if (!checkpoint.generation_config_json.empty()) {
    defaults = from_json(checkpoint.generation_config_json);
  }
  if (defaults.end_ids.empty() && !checkpoint.config_json.empty()) {
    defaults.end_ids = end_ids_of_config(checkpoint.config_json);
  }
  return defaults;
}

std::string chat_template(const Checkpoint& checkpoint) {
  if (checkpoint.source == Source::gguf) {
    return std::string(checkpoint.metadata.string("tokenizer.chat_template").value_or(""));
  }
  if (!checkpoint.chat_template_jinja.empty()) return checkpoint.chat_template_jinja;
  return checkpoint.tokenizer_config_json.empty() ? std::string()
                                                  : template_of(checkpoint.tokenizer_config_json);
}

}  // namespace paceline::formats
