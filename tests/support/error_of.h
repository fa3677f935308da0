#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "paceline/error.h"

namespace paceline::support {

struct Failure {
  std::optional<ErrorCode> code;  ///< empty: nothing was thrown
  std::string text;
};

/// What `call` throws; anything but an Error fails the test.
Failure error_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

}  // namespace paceline::support
