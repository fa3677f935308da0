#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace paceline::text {

/// What a chat template is rendered with. JSON texts keep their key order.
struct TemplateInput {
  std::string messages_json;  ///< array of {role, content, tool_calls?, ...}
  std::string tools_json;     ///< array, or empty for none
  std::string
      extra_json;  ///< object of further variables (enable_thinking, documents, ...), or empty
  bool add_generation_prompt = true;
  std::string bos_token;
  std::string eos_token;
  int64_t unix_time = 0;  ///< for strftime_now; UTC
};

/// A compiled Jinja chat template. Immutable, any thread.
class ChatTemplate {
 public:
  /// Throws Error{template_error} naming line and construct.
  explicit ChatTemplate(std::string_view source);
  ~ChatTemplate();
  ChatTemplate(const ChatTemplate&) = delete;
  ChatTemplate& operator=(const ChatTemplate&) = delete;

  /// Throws Error{template_error}: raise_exception's own text, or line and construct.
  std::string render(const TemplateInput& input) const;
  const std::string& source() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline::text
