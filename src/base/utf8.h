#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline::base {

/// Length in bytes of the longest prefix of `bytes` that does not end inside a code point that more
/// bytes could complete. Invalid bytes count as complete (they become U+FFFD when printed).
std::size_t complete_utf8_prefix(std::string_view bytes);

/// Replaces each maximal invalid subpart by U+FFFD (Unicode 15, section 3.9, "substitution of
/// maximal subparts"). `changed`, if given, tells whether anything was replaced.
std::string repair_utf8(std::string_view bytes, bool* changed = nullptr);

bool is_valid_utf8(std::string_view bytes);

}  // namespace paceline::base
