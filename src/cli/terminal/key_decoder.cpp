#include "cli/terminal/key_decoder.h"

#include "base/utf8.h"

namespace paceline::cli {
namespace {

using Kind = Key::Kind;

constexpr char kEscape = '\x1b';
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::size_t kSequenceMax = 32;  // longer escape sequences are no keys

Kind control_key(char byte) {
  switch (byte) {
    case 1:
      return Kind::home;
    case 2:
      return Kind::left;
    case 3:
      return Kind::interrupt;
    case 4:
      return Kind::end_of_input;
    case 5:
      return Kind::end;
    case 6:
      return Kind::right;
    case 8:
    case 127:
      return Kind::backspace;
    case 10:
    case 13:
      return Kind::enter;
    case 11:
      return Kind::kill_to_end;
    case 12:
      return Kind::clear_screen;
    case 14:
      return Kind::down;
    case 16:
      return Kind::up;
    case 21:
      return Kind::kill_to_start;
    case 23:
      return Kind::kill_word;
    case 26:
      return Kind::suspend;
    default:
      return Kind::unknown;
  }
}

Kind arrow_key(char final, bool modified) {
  switch (final) {
    case 'A':
      return Kind::up;
    case 'B':
      return Kind::down;
    case 'C':
      return modified ? Kind::word_right : Kind::right;
    case 'D':
      return modified ? Kind::word_left : Kind::left;
    case 'H':
      return Kind::home;
    case 'F':
      return Kind::end;
    default:
      return Kind::unknown;
  }
}

Kind tilde_key(std::string_view number) {
  if (number == "1" || number == "7") {
    return Kind::home;
  }
  if (number == "4" || number == "8") {
    return Kind::end;
  }
  return number == "3" ? Kind::erase : Kind::unknown;
}

Kind alt_key(char byte) {
  switch (byte) {
    case 'b':
      return Kind::word_left;
    case 'f':
      return Kind::word_right;
    case 10:
    case 13:
      return Kind::newline;
    case 127:
      return Kind::kill_word;
    default:
      return Kind::unknown;
  }
}

std::string with_newlines(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool of_pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!of_pair) {
      result += text[i] == '\r' ? '\n' : text[i];
    }
  }
  return base::repair_utf8(result);
}

}  // namespace

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  bool progress = true;
  while (progress && !pending_.empty()) {
    if (pasting_) {
      progress = take_paste(keys);
    } else if (pending_.front() == kEscape) {
      progress = take_escape(keys);
    } else {
      progress = take_text(keys);
    }
  }
  return keys;
}

bool KeyDecoder::take_paste(std::vector<Key>& keys) {
  const std::size_t end = pending_.find(kPasteEnd);
  if (end == std::string::npos) {
    return false;
  }
  keys.push_back({Kind::paste, with_newlines(std::string_view(pending_).substr(0, end))});
  pending_.erase(0, end + kPasteEnd.size());
  pasting_ = false;
  return true;
}

bool KeyDecoder::take_escape(std::vector<Key>& keys) {
  if (pending_.size() < 2) {
    return false;
  }
  const char second = pending_[1];
  if (second != '[' && second != 'O') {
    keys.push_back({alt_key(second), {}});
    pending_.erase(0, 2);
    return true;
  }
  const std::size_t end = pending_.find_first_not_of("0123456789;:<=>?", 2);
  if (end == std::string::npos) {
    if (pending_.size() > kSequenceMax) {
      pending_.clear();
    }
    return false;
  }
  const std::string parameters = pending_.substr(2, end - 2);
  const char final = pending_[end];
  pending_.erase(0, end + 1);
  if (final == '~' && parameters == "200") {
    pasting_ = true;
  } else if (final == '~') {
    keys.push_back({tilde_key(parameters), {}});
  } else {
    keys.push_back({arrow_key(final, parameters.find(';') != std::string::npos), {}});
  }
  return true;
}

bool KeyDecoder::take_text(std::vector<Key>& keys) {
  const auto byte = static_cast<unsigned char>(pending_.front());
  if (byte == '\t') {
    keys.push_back({Kind::text, "\t"});
    pending_.erase(0, 1);
    return true;
  }
  if (byte < 0x20 || byte == 0x7F) {
    keys.push_back({control_key(pending_.front()), {}});
    pending_.erase(0, 1);
    return true;
  }
  const std::size_t length = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  if (pending_.size() < length && base::complete_utf8_prefix(pending_) == 0) {
    return false;
  }
  const std::string code_point = pending_.substr(0, length);
  if (base::is_valid_utf8(code_point)) {
    keys.push_back({Kind::text, code_point});
    pending_.erase(0, length);
  } else {
    keys.push_back({Kind::text, "\xEF\xBF\xBD"});
    pending_.erase(0, 1);
  }
  return true;
}

}  // namespace paceline::cli
