#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "paceline/error.h"
#include "text/chat_template.h"

/// Input: template, a zero byte, messages JSON, a zero byte, extra JSON.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto first = bytes.substr(0, bytes.find('\0'));
  const auto rest = bytes.substr(first.size() == size ? size : first.size() + 1);
  const auto second = rest.substr(0, rest.find('\0'));
  paceline::text::TemplateInput input;
  input.messages_json = second.empty() ? R"([{"role": "user", "content": "hi"}])" : second;
  input.extra_json = rest.substr(second.size() == rest.size() ? rest.size() : second.size() + 1);
  try {
    const auto text = paceline::text::ChatTemplate(first).render(input);
    if (text.size() > std::size_t{64} << 20) __builtin_trap();
  } catch (const paceline::Error& error) {
    // A panic inside the bridge is an error for users and a finding for this program.
    if (error.code() == paceline::ErrorCode::internal) __builtin_trap();
  }
  return 0;
}
