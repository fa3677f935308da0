#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace paceline::formats {

class FileContext;

struct JsonLimits {
  std::size_t depth_max = 64;
  std::size_t values_max = 1 << 20;  ///< objects, arrays and scalars together
};

/// Parses one JSON object and nothing behind it. Throws Error{bad_checkpoint} on malformed text,
/// a key stored twice in one object, or more than the limits allow.
nlohmann::json parse_object(std::string_view text, const FileContext& file, const JsonLimits& limits = {});

}  // namespace paceline::formats
