#pragma once

#include <string>
#include <string_view>

namespace paceline::base {

/// `utf8` as a JSON string with its quotes. Bytes that are not UTF-8 pass through.
std::string json_quote(std::string_view utf8);

}  // namespace paceline::base
