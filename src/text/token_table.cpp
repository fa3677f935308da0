#include "text/token_table.h"

#include <array>
#include <charconv>

namespace paceline::text {
namespace {

constexpr std::string_view kSpace = "\u2581";  // SentencePiece's picture of a space

/// Byte of each character of GPT-2's byte alphabet, -1 for others. Every character is below U+0144.
const std::array<int16_t, 0x144>& byte_of_character() {
  static const auto table = [] {
    std::array<int16_t, 0x144> bytes{};
    bytes.fill(-1);
    std::size_t spare = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
      bytes[printable ? static_cast<std::size_t>(byte) : spare++] = static_cast<int16_t>(byte);
    }
    return bytes;
  }();
  return table;
}

/// The one- or two-byte character at the start of `text`; nothing for longer ones.
struct ShortCharacter {
  std::size_t value;
  std::size_t bytes;
};
std::optional<ShortCharacter> short_character(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return ShortCharacter{first, 1};
  if ((first & 0xE0) != 0xC0 || text.size() < 2) return std::nullopt;
  const auto second = static_cast<uint8_t>(text[1]);
  return ShortCharacter{(first & 0x1FU) << 6 | (second & 0x3FU), 2};
}

void append_byte_level(std::string_view literal, std::string& out) {
  const auto& table = byte_of_character();
  while (!literal.empty()) {
    const auto found = short_character(literal);
    const int byte = found && found->value < table.size() ? table[found->value] : -1;
    if (byte < 0) {  // outside the alphabet: stands for itself
      out.push_back(literal[0]);
      literal.remove_prefix(1);
      continue;
    }
    out.push_back(static_cast<char>(byte));
    literal.remove_prefix(found->bytes);
  }
}

void append_sentencepiece(std::string_view literal, std::string& out) {
  while (true) {
    const auto at = literal.find(kSpace);
    out.append(literal.substr(0, at));
    if (at == std::string_view::npos) return;
    out.push_back(' ');
    literal.remove_prefix(at + kSpace.size());
  }
}

/// "<0x0A>" to its byte.
void append_byte_token(std::string_view literal, std::string& out) {
  unsigned value = 0;
  if (literal.size() != 6) return;
  std::from_chars(literal.data() + 3, literal.data() + 5, value, 16);
  out.push_back(static_cast<char>(value));
}

}  // namespace

void TokenTable::reserve(std::size_t tokens) {
  ends_.reserve(tokens);
  types_.reserve(tokens);
  arena_.reserve(tokens * 8);
}

void TokenTable::append(std::string_view literal, TokenType type) {
  arena_.append(literal);
  ends_.push_back(static_cast<uint32_t>(arena_.size()));
  types_.push_back(type);
}

void TokenTable::set_type(int32_t id, TokenType type) {
  types_[static_cast<std::size_t>(id)] = type;
}

std::string_view TokenTable::literal(int32_t id) const {
  const auto index = static_cast<std::size_t>(id);
  const std::size_t start = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(arena_).substr(start, ends_[index] - start);
}

bool TokenTable::is_control(int32_t id) const {
  return contains(id) && (type(id) == TokenType::control || type(id) == TokenType::unknown);
}

void TokenTable::append_bytes(int32_t id, std::string& out) const {
  if (!contains(id)) return;
  switch (type(id)) {
    case TokenType::none:
    case TokenType::unused:
      return;
    case TokenType::byte:
      return append_byte_token(literal(id), out);
    case TokenType::normal:
      if (kind_ == DecodeKind::byte_level) return append_byte_level(literal(id), out);
      return append_sentencepiece(literal(id), out);
    default:
      out.append(literal(id));
  }
}

std::optional<int32_t> TokenTable::find(std::string_view wanted) const {
  for (int32_t id = size() - 1; id >= 0; --id) {
    if (literal(id) == wanted) return id;
  }
  return std::nullopt;
}

std::string TokenTable::hash() const {
  uint64_t state = 0xCBF29CE484222325;  // FNV-1a
  const auto add = [&](uint64_t value) { state = (state ^ value) * 0x100000001B3; };
  for (int32_t id = 0; id < size(); ++id) {
    for (const char c : literal(id)) add(static_cast<uint8_t>(c));
    add(0x100U + static_cast<uint64_t>(type(id)));
  }
  std::array<char, 16> digits{};
  digits.fill('0');
  for (std::size_t i = digits.size(); i-- > 0; state >>= 4U)
    digits[i] = "0123456789abcdef"[state & 15U];
  return {digits.data(), digits.size()};
}

}  // namespace paceline::text
