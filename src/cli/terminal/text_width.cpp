#include "cli/terminal/text_width.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace paceline::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode 15: combining marks of the common scripts, joiners and other format characters, variation
// selectors.
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036F},   {0x0483, 0x0489},   {0x0591, 0x05BD},   {0x05BF, 0x05BF}, {0x05C1, 0x05C2},
    {0x05C4, 0x05C5},   {0x05C7, 0x05C7},   {0x0610, 0x061A},   {0x064B, 0x065F}, {0x0670, 0x0670},
    {0x06D6, 0x06DC},   {0x06DF, 0x06E4},   {0x06E7, 0x06E8},   {0x06EA, 0x06ED}, {0x0711, 0x0711},
    {0x0730, 0x074A},   {0x07A6, 0x07B0},   {0x0900, 0x0902},   {0x093A, 0x093A}, {0x093C, 0x093C},
    {0x0941, 0x0948},   {0x094D, 0x094D},   {0x0951, 0x0957},   {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E},   {0x1AB0, 0x1AFF},   {0x1DC0, 0x1DFF},   {0x200B, 0x200F}, {0x202A, 0x202E},
    {0x2060, 0x2064},   {0x20D0, 0x20FF},   {0xFE00, 0xFE0F},   {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
    {0x1F3FB, 0x1F3FF}, {0xE0020, 0xE007F}, {0xE0100, 0xE01EF},
};

// Unicode 15, East Asian Width W and F.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18AFF}, {0x1B000, 0x1B2FF},
    {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393},
    {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4},
    {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D},
    {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596},
    {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
    {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF}, {0x1F6EB, 0x1F6EC},
    {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F7F0, 0x1F7F0}, {0x1F90C, 0x1F93A},
    {0x1F93C, 0x1F945}, {0x1F947, 0x1FAFF}, {0x20000, 0x3FFFD},
};

constexpr char32_t kJoiner = 0x200D;

template <std::size_t N>
bool contains(const Range (&ranges)[N], char32_t c) {
  const auto* range =
      std::lower_bound(std::begin(ranges), std::end(ranges), c,
                       [](const Range& r, char32_t value) { return r.last < value; });
  return range != std::end(ranges) && range->first <= c;
}

bool is_flag_letter(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

std::size_t next_code_point(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
    ++at;
  }
  return at;
}

char32_t code_point(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) {
    return lead;
  }
  char32_t value = lead < 0xE0 ? lead & 0x1FU : lead < 0xF0 ? lead & 0x0FU : lead & 0x07U;
  for (std::size_t i = at + 1; i < next_code_point(text, at); ++i) {
    value = value << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return value;
}

}  // namespace

std::size_t next_cluster(std::string_view text, std::size_t at) {
  if (at >= text.size()) {
    return text.size();
  }
  char32_t before = code_point(text, at);
  std::size_t end = next_code_point(text, at);
  if (is_flag_letter(before) && end < text.size() && is_flag_letter(code_point(text, end))) {
    return next_code_point(text, end);
  }
  while (end < text.size() && before != '\n') {
    const char32_t c = code_point(text, end);
    if (before != kJoiner && !contains(kZeroWidth, c)) {
      break;
    }
    if (c == '\n') {
      break;
    }
    before = c;
    end = next_code_point(text, end);
  }
  return end;
}

std::size_t previous_cluster(std::string_view text, std::size_t at) {
  const std::size_t newline = at < 2 ? std::string_view::npos : text.rfind('\n', at - 2);
  std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  for (std::size_t end = next_cluster(text, start); end < at; end = next_cluster(text, end)) {
    start = end;
  }
  return start;
}

Shown shown(std::string_view cluster) {
  const char32_t c = code_point(cluster, 0);
  if (c == '\t') {
    return {"    ", 4};
  }
  if (c < 0x20) {
    return {std::string("^") + static_cast<char>(c + 0x40), 2};
  }
  if (c == 0x7F || (c >= 0x80 && c < 0xA0)) {
    return {"\xEF\xBF\xBD", 1};
  }
  if (contains(kZeroWidth, c)) {
    return {std::string(cluster), 0};
  }
  const bool emoji = cluster.find("\xEF\xB8\x8F") != std::string_view::npos;  // U+FE0F
  return {std::string(cluster), emoji || is_flag_letter(c) || contains(kWide, c) ? 2 : 1};
}

}  // namespace paceline::cli
