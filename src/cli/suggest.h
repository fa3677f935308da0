#pragma once

#include <span>
#include <string>
#include <string_view>

namespace paceline::cli {

/// The candidate that `found` was probably meant to be: one that starts with it, else the one at
/// the smallest edit distance if that is at most a third of its length. Empty when none is near.
std::string nearest(std::string_view found, std::span<const std::string> candidates);

/// ", did you mean 'X'?" or nothing.
std::string did_you_mean(std::string_view found, std::span<const std::string> candidates);

}  // namespace paceline::cli
