#include <cstddef>
#include <cstdint>
#include <string_view>

#include "paceline/error.h"
#include "text/tokenizer.h"

/// Input: tokenizer.json, a zero byte, text to encode.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto json = bytes.substr(0, bytes.find('\0'));
  const auto text = bytes.substr(json.size() == size ? size : json.size() + 1);
  try {
    const auto tokenizer = paceline::text::Tokenizer::from_json({.tokenizer = json});
    for (const auto specials : {paceline::text::Specials::plain, paceline::text::Specials::parse}) {
      const auto ids = tokenizer->encode(text, specials);
      (void)tokenizer->decode(ids, true);
    }
    (void)tokenizer->encode_guarded(tokenizer->guard(text));
  } catch (const paceline::Error&) {
    // Odd files make the library panic; that it comes back as an error is what is tested.
  }
  return 0;
}
