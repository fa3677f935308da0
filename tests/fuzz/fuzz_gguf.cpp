#include "formats/gguf.h"
#include "fuzz/decode_some.h"
#include "paceline/error.h"

using namespace paceline;

namespace {

/// A value of another kind is an Error; anything else must be read.
template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

void read_as_everything(const formats::Metadata& metadata, std::string_view key) {
  attempt([&] { metadata.integer(key); });
  attempt([&] { metadata.number(key); });
  attempt([&] { metadata.string(key); });
  attempt([&] { metadata.integers(key); });
  attempt([&] { metadata.numbers(key); });
  attempt([&] { metadata.booleans(key); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  try {
    const formats::GgufFile file = formats::parse_gguf(std::as_bytes(std::span(data, size)), "fuzz.gguf");
    for (const auto& [key, value] : file.metadata.entries()) read_as_everything(file.metadata, key);
    for (const blocks::StoredTensor& tensor : file.tensors) fuzz::decode_some(tensor);
  } catch (const Error&) {
  }
  return 0;
}
