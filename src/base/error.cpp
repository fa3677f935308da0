#include "paceline/error.h"

namespace paceline {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::io:
      return "io";
    case ErrorCode::bad_checkpoint:
      return "bad_checkpoint";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::context_overflow:
      return "context_overflow";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::template_error:
      return "template_error";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace paceline
