#include "base/utf8.h"

namespace paceline::base {
namespace {

struct Unit {
  std::size_t size;  // bytes consumed, at least 1
  bool valid;        // a whole code point
  bool open;         // ran out of input inside a prefix that could still become valid
};

/// The range of the second byte depends on the first (Unicode table 3-7); later bytes are
/// always 80..BF.
Unit next_unit(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {1, true, false};
  if (lead < 0xC2 || lead > 0xF4) return {1, false, false};
  const std::size_t need = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (std::size_t i = 1; i < need; ++i) {
    if (i >= s.size()) return {i, false, true};
    if (at(i) < low || at(i) > high) return {i, false, false};
    low = 0x80;
    high = 0xBF;
  }
  return {need, true, false};
}

}  // namespace

std::size_t complete_utf8_prefix(std::string_view bytes) {
  // Only the last three bytes can be an unfinished code point.
  const std::size_t start = bytes.size() > 3 ? bytes.size() - 3 : 0;
  for (std::size_t i = start; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte >= 0xC2 && next_unit(bytes.substr(i)).open) return i;
  }
  return bytes.size();
}

std::string repair_utf8(std::string_view bytes, bool* changed) {
  std::string out;
  out.reserve(bytes.size());
  bool replaced = false;
  while (!bytes.empty()) {
    const Unit unit = next_unit(bytes);
    if (unit.valid) {
      out.append(bytes.substr(0, unit.size));
    } else {
      out.append("\xEF\xBF\xBD");
      replaced = true;
    }
    bytes.remove_prefix(unit.size);
  }
  if (changed != nullptr) *changed = replaced;
  return out;
}

bool is_valid_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Unit unit = next_unit(bytes);
    if (!unit.valid) return false;
    bytes.remove_prefix(unit.size);
  }
  return true;
}

}  // namespace paceline::base
