#pragma once

#include <string>

#include "paceline/error.h"

/// Our own bugs only: input from outside never reaches an assert. Throws Error{internal} so that
/// one request ends and the process lives.
#define PACELINE_ASSERT(condition)                                                              \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      throw ::paceline::Error(::paceline::ErrorCode::internal,                                  \
                              std::string("[assert] ") + #condition + " at " + __FILE__ + ":" + \
                                  std::to_string(__LINE__));                                    \
    }                                                                                           \
  } while (false)
