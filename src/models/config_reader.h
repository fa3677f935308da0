#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/checkpoint.h"

namespace paceline::models {

/// One view of a model's configuration over both sources: config.json (text_config hoisted) and
/// GGUF metadata. Every getter takes the config.json key and the GGUF key without its architecture
/// prefix; an empty key means that the source has no such setting. A value of the wrong kind is
/// Error{bad_checkpoint} naming it.
class ConfigReader {
 public:
  explicit ConfigReader(const formats::Checkpoint& checkpoint);
  ~ConfigReader();
  ConfigReader(const ConfigReader&) = delete;
  ConfigReader& operator=(const ConfigReader&) = delete;

  bool is_gguf() const { return gguf_; }

  std::optional<int64_t> integer(std::string_view json_key, std::string_view gguf_key) const;
  std::optional<double> number(std::string_view json_key, std::string_view gguf_key) const;
  std::optional<bool> boolean(std::string_view json_key, std::string_view gguf_key) const;
  std::optional<std::string> text(std::string_view json_key, std::string_view gguf_key) const;
  /// Array of strings in config.json, nullopt for GGUF.
  std::optional<std::vector<std::string>> texts(std::string_view json_key) const;
  std::optional<std::vector<double>> numbers(std::string_view json_key) const;
  /// A positive integer below 2^31. Error{bad_checkpoint} when absent or out of range.
  int32_t size(std::string_view json_key, std::string_view gguf_key) const;
  int32_t size_or(std::string_view json_key, std::string_view gguf_key, int32_t otherwise) const;

  /// config.json: the object at a key ("a.b" walks), or null. The parent must outlive it.
  std::unique_ptr<ConfigReader> object(std::string_view json_path) const;

  /// Keys of the GGUF metadata under the architecture's prefix, without the prefix.
  std::vector<std::string> gguf_keys() const;

 private:
  struct Json;
  explicit ConfigReader(std::unique_ptr<Json> json);
  std::string prefixed(std::string_view gguf_key) const;

  const formats::Checkpoint* checkpoint_ = nullptr;
  bool gguf_ = false;
  std::unique_ptr<Json> json_;
};

/// Throws Error{unsupported} naming key and value unless the value is absent (or null) or equals
/// one of `allowed`.
void require_text(const ConfigReader& config, std::string_view json_key,
                  const std::vector<std::string>& allowed);
/// Throws Error{unsupported} when the boolean is present and differs.
void require_flag(const ConfigReader& config, std::string_view json_key, bool expected);
/// Throws Error{unsupported} when the number is present, not null, and differs.
void require_number(const ConfigReader& config, std::string_view json_key,
                    std::string_view gguf_key, double expected);
/// Throws Error{unsupported} for a GGUF setting of the architecture that is not in the list.
void require_known_gguf_keys(const ConfigReader& config, const std::vector<std::string>& known);

}  // namespace paceline::models
