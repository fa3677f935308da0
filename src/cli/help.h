#pragma once

#include <string>
#include <string_view>

namespace paceline::cli {

/// The "Examples:" part of a command's help; "" is the program's own.
std::string examples_of(std::string_view command);

/// What /help prints in a chat.
std::string chat_help();

}  // namespace paceline::cli
