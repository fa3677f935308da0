#include "text/bridge_call.h"

namespace paceline::text {
namespace {

ErrorCode code_of(PlStatus status) {
  switch (status) {
    case PL_BAD_ARGUMENT:
      return ErrorCode::invalid_argument;
    case PL_BAD_DATA:
      return ErrorCode::bad_checkpoint;
    case PL_UNSUPPORTED:
      return ErrorCode::unsupported;
    case PL_TEMPLATE:
      return ErrorCode::template_error;
    default:
      return ErrorCode::internal;
  }
}

}  // namespace

void require_ok(PlStatus status, std::string_view where, const BridgeText& error) {
  if (status == PL_OK) return;
  throw Error(code_of(status), "[" + std::string(where) + "] " + std::string(error.view()));
}

}  // namespace paceline::text
