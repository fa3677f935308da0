#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "text/chat_template.h"
#include "text/test_vocab.h"
#include "text/tokenizer.h"

namespace paceline::text {

TEST_CASE("a tokenizer and a template made on one thread serve many") {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<ChatTemplate> chat_template;
  std::jthread([&] {
    tokenizer = Tokenizer::from_gguf(byte_level_vocab().view());
    chat_template =
        std::make_unique<ChatTemplate>("{% for m in messages %}{{ m.content }}{% endfor %}");
  }).join();

  std::atomic<int> wrong = 0;
  const auto work = [&] {
    TemplateInput input;
    input.messages_json = R"([{"content": "hello "}, {"content": "hello"}])";
    for (int i = 0; i < 200; ++i) {
      const std::string text = "hello number " + std::to_string(i);
      const auto ids = tokenizer->encode(text, Specials::plain);
      if (tokenizer->decode(ids, true) != text) ++wrong;
      if (i % 20 == 0 && chat_template->render(input) != "hello hello") ++wrong;
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  }
  CHECK(wrong == 0);
}

}  // namespace paceline::text
