#include "formats/file_context.h"

#include "base/utf8.h"
#include "paceline/error.h"

namespace paceline::formats {

std::string shown(std::string_view text) {
  constexpr std::size_t kBytesShown = 100;
  std::string out(1, '\'');
  out += base::repair_utf8(text.substr(0, kBytesShown));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  out += text.size() > kBytesShown ? "...'" : "'";
  return out;
}

FileContext::FileContext(std::string_view format, std::string_view file) {
  prefix_.append("[").append(format).append("] ").append(file).append(": ");
}

void FileContext::bad(const std::string& what) const { throw Error(ErrorCode::bad_checkpoint, prefix_ + what); }

void FileContext::unsupported(const std::string& what) const { throw Error(ErrorCode::unsupported, prefix_ + what); }

}  // namespace paceline::formats
