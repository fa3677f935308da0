#include "cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "paceline/error.h"

namespace paceline::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kPlain = "\x1b[0m";

bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7F; }

// U+0080 to U+009F, which terminals may read as escape sequences, are C2 80 to C2 9F.
bool is_high_control(std::string_view text, std::size_t at) {
  return text[at] == '\xC2' && at + 1 < text.size() &&
         static_cast<unsigned char>(text[at + 1]) < 0xA0;
}

// A message that cannot be shown changes nothing.
void write_error(std::string_view bytes) {
  try {
    write_all(STDERR_FILENO, bytes, "stderr");
  } catch (const Error&) {
    return;
  }
}

}  // namespace

void write_all(int fd, std::string_view bytes, std::string_view what) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      throw Error(ErrorCode::io,
                  "[" + std::string(what) + "] cannot write: " + std::strerror(errno));
    }
  }
}

std::string for_terminal(std::string_view utf8) {
  std::string safe;
  safe.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const char c = utf8[i];
    if (is_high_control(utf8, i)) {
      safe += kReplacement;
      ++i;
    } else if (!is_control(static_cast<unsigned char>(c)) || c == '\n' || c == '\t') {
      safe += c;
    } else if (c != '\r') {
      safe += kReplacement;
    }
  }
  return safe;
}

std::string one_line(std::string_view text) {
  std::string line = for_terminal(text);
  for (char& c : line) {
    c = c == '\n' || c == '\t' ? ' ' : c;
  }
  return line;
}

void Console::answer(std::string_view text) const {
  if (settings_.terminal.output) {
    write_all(STDOUT_FILENO, for_terminal(text), "stdout");
  } else {
    write_all(STDOUT_FILENO, text, "stdout");
  }
}

void Console::print(std::string_view text) const { write_all(STDOUT_FILENO, text, "stdout"); }

void Console::notice(std::string_view text) const {
  const bool colour = settings_.colour_error;
  write_error((colour ? kDim : "") + one_line(text) + (colour ? kPlain : "") + "\n");
}

void Console::live(std::string_view text) const { write_error("\r\x1b[K" + std::string(text)); }

void Console::error(std::string_view text) const {
  const bool colour = settings_.colour_error;
  write_error(std::string(colour ? kRed : "") + "paceline:" + (colour ? kPlain : "") + " " +
              one_line(text) + "\n");
}

}  // namespace paceline::cli
