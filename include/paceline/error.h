#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "paceline/export.h"

namespace paceline {

/// What kind of failure an Error is. Texts and meanings: docs/errors.md.
enum class ErrorCode {
  invalid_argument,  ///< a parameter is out of range, of the wrong kind, or contradicts another
  not_found,         ///< a file, model name or folder does not exist
  io,                ///< reading, writing or mapping failed
  bad_checkpoint,    ///< a model file is malformed or incomplete
  unsupported,       ///< well formed, but this build cannot run it
  context_overflow,  ///< prompt and answer do not fit the context
  out_of_memory,     ///< a stated memory limit would be exceeded
  template_error,    ///< a chat template failed to parse or to render
  cancelled,         ///< the caller cancelled
  internal,          ///< a bug in Paceline
};

/// The code's name as printed in messages and JSON, for example "bad_checkpoint".
PACELINE_EXPORT std::string_view name(ErrorCode code);

/// Ends a request or a load. what() = "[where] what was found, what was expected".
class PACELINE_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace paceline
