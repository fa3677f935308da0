#include "text/chat_template.h"

#include <doctest/doctest.h>

#include "paceline/error.h"

namespace paceline::text {
namespace {

std::string render(std::string_view source, const std::string& extra = "", const std::string& messages = "[]") {
  TemplateInput input;
  input.messages_json = messages;
  input.extra_json = extra;
  return ChatTemplate(source).render(input);
}

}  // namespace

TEST_CASE("ChatML renders turns and the generation prompt") {
  const ChatTemplate chatml(
      "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
      "{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + "
      "message['role'] + '\n' + "
      "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
      "{{ '<|im_start|>assistant\n' }}{% endif %}");
  TemplateInput input;
  input.messages_json = R"([{"role": "user", "content": "Hi"}])";
  CHECK(chatml.render(input) ==
        "<|im_start|>system\nBe "
        "kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  input.add_generation_prompt = false;
  CHECK(chatml.render(input) == "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n");
}

TEST_CASE("tojson writes what Python's json.dumps writes") {
  const std::string extra = R"({"x": {"b": [1, 2.0, null, true], "a": "<é'\n"}})";
  CHECK(render("{{ x | tojson }}", extra) == R"({"b": [1, 2.0, null, true], "a": "<é'\n"})");
}

}  // namespace paceline::text
