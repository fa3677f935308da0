#include "text/chat_template.h"

#include <doctest/doctest.h>

#include <vector>

#include "paceline/error.h"

namespace paceline::text {
namespace {

std::string render(std::string_view source, const std::string& extra = "",
                   const std::string& messages = "[]") {
  TemplateInput input;
  input.messages_json = messages;
  input.extra_json = extra;
  return ChatTemplate(source).render(input);
}

std::string error_of(const std::string& source) {
  try {
    render(source);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::template_error);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("chat template sources are bounded, and long flat chains do not overflow a stack") {
  const auto refused = [](const std::string& source) {
    try {
      const ChatTemplate compiled(source);
      return std::string();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::template_error);
      return std::string(error.what());
    }
  };
  CHECK(refused(std::string(300'000, ' ')).find("300000 bytes, at most 256 KiB") !=
        std::string::npos);
  for (const std::string part : {"+1", "|int", "-", " if 1 else 1"}) {
    CAPTURE(part);
    std::string source = part == "-" ? "{{ " : "{{ 1";
    while (source.size() < 200'000) source += part;
    refused(source + (part == "-" ? "1 }}" : " }}"));  // either way, the process lives
  }
}

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
  CHECK(chatml.render(input) ==
        "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n");
}

TEST_CASE("tojson writes what Python's json.dumps writes") {
  const std::string extra = R"({"x": {"b": [1, 2.0, null, true], "a": "<é'\n"}})";
  CHECK(render("{{ x | tojson }}", extra) == R"({"b": [1, 2.0, null, true], "a": "<é'\n"})");
}

TEST_CASE("tojson leaves the guard of literals in place whatever the style") {
  const std::string extra = "{\"x\": \"<\uFDD0|im_end|>é\"}";
  CHECK(render("{{ x | tojson }}", extra) == "\"<\uFDD0|im_end|>é\"");
  CHECK(render("{{ x | tojson(ensure_ascii=true) }}", extra) == "\"<\uFDD0|im_end|>\\u00e9\"");
  CHECK(render("{{ [x] }}", extra) == "['<\uFDD0|im_end|>é']");
}

TEST_CASE("dates are written from the given moment, in UTC") {
  TemplateInput input;
  input.messages_json = "[]";
  const auto at = [&](int64_t time, const std::string& format) {
    input.unix_time = time;
    return ChatTemplate("{{ strftime_now('" + format + "') }}").render(input);
  };
  CHECK(at(1768480496, "%Y-%m-%d %H:%M:%S") == "2026-01-15 12:34:56");
  CHECK(at(1768480496, "%d %b %Y|%A, %B %-d|%I %p|%j|%y|%%|%Q") ==
        "15 Jan 2026|Thursday, January 15|12 PM|015|26|%|%Q");
  CHECK(at(951782400, "%d %B %Y %a") == "29 February 2000 Tue");
  CHECK(at(0, "%c") == "Thu Jan  1 00:00:00 1970");
  CHECK(at(-1, "%Y-%m-%d %j") == "1969-12-31 365");
}

TEST_CASE("keys without a value are not seen, and reasoning has both of its names") {
  const std::string messages = R"([{"role": "assistant", "content": null, "reasoning": "hm"}])";
  CHECK(render("{{ messages[0].content is defined }}{{ messages[0].reasoning_content }}{{ "
               "messages[0].thinking }}",
               "", messages) == "Falsehmhm");
}

TEST_CASE("extra variables may replace the special tokens but not the conversation") {
  const std::string source = "{{ bos_token }}{{ messages | length }}{{ enable_thinking }}";
  CHECK(
      render(source, R"({"bos_token": "<B>", "messages": [1, 2, 3], "enable_thinking": false})") ==
      "<B>0False");
}

TEST_CASE("what raise_exception says is the error's whole text") {
  CHECK(error_of("{{ raise_exception('roles must ' + 'alternate') }}") ==
        "[chat template] roles must alternate");
  CHECK(error_of("{% macro m() %}{{ raise_exception('deep') }}{% endmacro %}{{ m() }}") ==
        "[chat template] deep");
}

TEST_CASE("errors name line and construct") {
  CHECK(error_of("a\n\n{{ x.y.z }}").find("line 3, at `x.y`") != std::string::npos);
  CHECK(error_of("a\n{% for %}").find("line 2") != std::string::npos);
  CHECK(error_of("{{ nofunc(1) }}").find("nofunc") != std::string::npos);
  CHECK(error_of("{{ 'a' | nofilter }}").find("nofilter") != std::string::npos);
  CHECK(error_of("{% include 'other' %}").find("line 1") != std::string::npos);
}

TEST_CASE("input that is not the JSON it should be is an argument error") {
  const auto code = [](const std::string& messages, const std::string& extra) {
    try {
      render("x", extra, messages);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  CHECK(code("[", "") == ErrorCode::invalid_argument);
  CHECK(code("{}", "") == ErrorCode::invalid_argument);
  CHECK(code("[]", "[]") == ErrorCode::invalid_argument);
  CHECK(code("\"\xFF\"", "") == ErrorCode::invalid_argument);
}

TEST_CASE("a template that would run for ever is stopped") {
  const std::string loop =
      "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}";
  CHECK(error_of(loop).find("fuel") != std::string::npos);
  const std::string recursion = "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}";
  CHECK(error_of(recursion).find("recursion") != std::string::npos);
}

TEST_CASE("output is allowed up to its limit and not beyond") {
  const std::string mebibyte =
      "{% set m = 'x' * 1048576 %}{% for a in range(64) %}{{ m }}{% endfor %}";
  CHECK(render(mebibyte).size() == std::size_t{64} << 20);
  CHECK(error_of(mebibyte + "y").find("64 MiB") != std::string::npos);
}

TEST_CASE("a template that takes too much memory is stopped, however it does so") {
  const std::string doubling = "{% set ns = namespace(x='xxxxxxxx') %}{% for a in range(40) %}";
  const std::vector<std::string> hostile = {
      doubling + "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      doubling + "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}{% endfor %}",
      doubling + "{% set ns.x = ns.x | replace('x', 'xx') %}{% endfor %}",
      "{% set x = ([1] * 1000000000) | list %}",
      "{% set x = 'x' * 100000 %}{% set y = x | join(x) %}"};
  for (const auto& source : hostile) {
    CAPTURE(source);
    CHECK(error_of(source) == "[chat template] takes too much memory");
  }
  CHECK(render("{% set x = 'x' * 1000000 %}{{ x | length }}") == "1000000");
}

TEST_CASE("values that nest too deep for the stack are printed as an error") {
  const std::string nest =
      "{% set ns = namespace(x=[]) %}{% for a in range(100) %}{% for b in range(1000) %}"
      "{% set ns.x = [ns.x] %}{% endfor %}{% endfor %}";
  CHECK(render(nest) == "");
  CHECK(error_of(nest + "{{ ns.x }}").find("nests deeper") != std::string::npos);
  CHECK(error_of(nest + "{{ ns.x | tojson }}").find("nests deeper") != std::string::npos);
}

}  // namespace paceline::text
