#pragma once

#include <string>

#include "cli/session.h"

namespace paceline::cli {

struct ChatReply {
  std::string text{};  ///< to be shown, may hold several lines
  bool leave = false;
};

bool is_chat_command(const std::string& input);

/// Carries out "/name arguments". Throws UsageError for what it does not know, Error from the
/// session.
ChatReply carry_out(const std::string& input, Session& session);

}  // namespace paceline::cli
