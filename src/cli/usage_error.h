#pragma once

#include <stdexcept>
#include <string>

namespace paceline::cli {

/// The command line itself is wrong: exit code 2. what() = "[where] found ..., expected ...".
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace paceline::cli
