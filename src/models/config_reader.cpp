#include "models/config_reader.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "paceline/error.h"

namespace paceline::models {

using nlohmann::json;

struct ConfigReader::Json {
  json owned;
  const json* value = nullptr;

  const json* find(std::string_view key) const {
    if (key.empty() || value == nullptr || !value->is_object()) return nullptr;
    const auto found = value->find(std::string(key));
    return found == value->end() || found->is_null() ? nullptr : &*found;
  }
};

namespace {

[[noreturn]] void wrong_kind(std::string_view key, const json& found, std::string_view expected) {
  throw Error(ErrorCode::bad_checkpoint, "[config.json] '" + std::string(key) + "' is " +
                                             found.dump().substr(0, 80) + ", expected " +
                                             std::string(expected));
}

[[noreturn]] void unsupported(std::string_view key, const std::string& found,
                              const std::string& expected) {
  throw Error(ErrorCode::unsupported, "[config] '" + std::string(key) + "' is " + found +
                                          ", this build handles only " + expected);
}

template <typename T>
std::vector<T> array_of(std::string_view key, const json& found, bool (json::*is)() const noexcept,
                        std::string_view expected) {
  if (!found.is_array()) wrong_kind(key, found, expected);
  std::vector<T> out;
  for (const json& item : found) {
    if (!(item.*is)()) wrong_kind(key, found, expected);
    out.push_back(item.get<T>());
  }
  return out;
}

}  // namespace

ConfigReader::ConfigReader(const formats::Checkpoint& checkpoint)
    : checkpoint_(&checkpoint),
      gguf_(checkpoint.source == formats::Source::gguf),
      json_(std::make_unique<Json>()) {
  if (gguf_) return;
  json_->owned = json::parse(checkpoint.config_json, nullptr, false);
  if (!json_->owned.is_object()) {
    throw Error(ErrorCode::bad_checkpoint, "[config.json] missing or not a JSON object");
  }
  const auto text = json_->owned.find("text_config");
  json_->value = text != json_->owned.end() && text->is_object() ? &*text : &json_->owned;
}

ConfigReader::ConfigReader(std::unique_ptr<Json> json) : json_(std::move(json)) {}

ConfigReader::~ConfigReader() = default;

std::string ConfigReader::prefixed(std::string_view gguf_key) const {
  return checkpoint_->architecture + "." + std::string(gguf_key);
}

std::optional<int64_t> ConfigReader::integer(std::string_view json_key,
                                             std::string_view gguf_key) const {
  if (gguf_)
    return gguf_key.empty() ? std::nullopt : checkpoint_->metadata.integer(prefixed(gguf_key));
  const json* found = json_->find(json_key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number_integer()) wrong_kind(json_key, *found, "an integer");
  return found->get<int64_t>();
}

std::optional<double> ConfigReader::number(std::string_view json_key,
                                           std::string_view gguf_key) const {
  if (gguf_)
    return gguf_key.empty() ? std::nullopt : checkpoint_->metadata.number(prefixed(gguf_key));
  const json* found = json_->find(json_key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number()) wrong_kind(json_key, *found, "a number");
  return found->get<double>();
}

std::optional<bool> ConfigReader::boolean(std::string_view json_key,
                                          std::string_view gguf_key) const {
  if (gguf_)
    return gguf_key.empty() ? std::nullopt : checkpoint_->metadata.boolean(prefixed(gguf_key));
  const json* found = json_->find(json_key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_boolean()) wrong_kind(json_key, *found, "true or false");
  return found->get<bool>();
}

std::optional<std::string> ConfigReader::text(std::string_view json_key,
                                              std::string_view gguf_key) const {
  if (gguf_) {
    const auto found =
        gguf_key.empty() ? std::nullopt : checkpoint_->metadata.string(prefixed(gguf_key));
    return found ? std::optional<std::string>(*found) : std::nullopt;
  }
  const json* found = json_->find(json_key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string()) wrong_kind(json_key, *found, "a string");
  return found->get<std::string>();
}

std::optional<std::vector<std::string>> ConfigReader::texts(std::string_view json_key) const {
  const json* found = json_->find(json_key);
  if (found == nullptr) return std::nullopt;
  return array_of<std::string>(json_key, *found, &json::is_string, "a list of strings");
}

std::optional<std::vector<double>> ConfigReader::numbers(std::string_view json_key) const {
  const json* found = json_->find(json_key);
  if (found == nullptr) return std::nullopt;
  return array_of<double>(json_key, *found, &json::is_number, "a list of numbers");
}

int32_t ConfigReader::size(std::string_view json_key, std::string_view gguf_key) const {
  const std::optional<int64_t> found = integer(json_key, gguf_key);
  const std::string key = gguf_ ? prefixed(gguf_key) : std::string(json_key);
  if (!found) throw Error(ErrorCode::bad_checkpoint, "[config] '" + key + "' is missing");
  if (*found <= 0 || *found > std::numeric_limits<int32_t>::max()) {
    throw Error(ErrorCode::bad_checkpoint, "[config] '" + key + "' is " + std::to_string(*found) +
                                               ", expected a positive 32-bit number");
  }
  return static_cast<int32_t>(*found);
}

int32_t ConfigReader::size_or(std::string_view json_key, std::string_view gguf_key,
                              int32_t otherwise) const {
  return integer(json_key, gguf_key) ? size(json_key, gguf_key) : otherwise;
}

std::unique_ptr<ConfigReader> ConfigReader::object(std::string_view json_path) const {
  const json* at = json_->value;
  while (!json_path.empty() && at != nullptr) {
    const size_t dot = json_path.find('.');
    const std::string key(json_path.substr(0, dot));
    const auto found = at->is_object() ? at->find(key) : at->end();
    at = at->is_object() && found != at->end() ? &*found : nullptr;
    json_path = dot == std::string_view::npos ? std::string_view{} : json_path.substr(dot + 1);
  }
  if (at == nullptr || !at->is_object()) return nullptr;
  auto view = std::make_unique<Json>();
  view->value = at;
  return std::unique_ptr<ConfigReader>(new ConfigReader(std::move(view)));
}

std::vector<std::string> ConfigReader::gguf_keys() const {
  std::vector<std::string> keys;
  if (!gguf_) return keys;
  const std::string prefix = prefixed("");
  for (const auto& [key, value] : checkpoint_->metadata.entries()) {
    if (key.rfind(prefix, 0) == 0) keys.push_back(key.substr(prefix.size()));
  }
  return keys;
}

void require_text(const ConfigReader& config, std::string_view json_key,
                  const std::vector<std::string>& allowed) {
  const auto found = config.text(json_key, "");
  if (!found || std::find(allowed.begin(), allowed.end(), *found) != allowed.end()) return;
  std::string expected;
  for (const std::string& value : allowed)
    expected += (expected.empty() ? "'" : ", '") + value + "'";
  unsupported(json_key, "'" + *found + "'", expected);
}

void require_flag(const ConfigReader& config, std::string_view json_key, bool expected) {
  const auto found = config.boolean(json_key, "");
  if (found && *found != expected)
    unsupported(json_key, *found ? "true" : "false", expected ? "true" : "false");
}

void require_number(const ConfigReader& config, std::string_view json_key,
                    std::string_view gguf_key, double expected) {
  const auto found = config.number(json_key, gguf_key);
  if (!found || *found == expected) return;
  const std::string_view key = config.is_gguf() ? gguf_key : json_key;
  unsupported(key, std::to_string(*found), std::to_string(expected));
}

void require_known_gguf_keys(const ConfigReader& config, const std::vector<std::string>& known) {
  for (const std::string& key : config.gguf_keys()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw Error(ErrorCode::unsupported,
                  "[config] GGUF setting '" + key +
                      "' of this architecture is not known to this build and could change "
                      "the model's results");
    }
  }
}

}  // namespace paceline::models
