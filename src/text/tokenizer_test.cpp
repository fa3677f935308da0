#include "text/tokenizer.h"

#include <doctest/doctest.h>

#include "paceline/error.h"
#include "text/test_vocab.h"

namespace paceline::text {
namespace {

using Ids = std::vector<TokenId>;

std::shared_ptr<const Tokenizer> byte_level() {
  return Tokenizer::from_gguf(byte_level_vocab().view());
}

std::shared_ptr<const Tokenizer> sentencepiece() {
  return Tokenizer::from_gguf(sentencepiece_vocab().view());
}

template <typename Body>
ErrorCode code_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

}  // namespace

TEST_CASE("byte-level text becomes merged words and single bytes, and comes back") {
  const auto tokenizer = byte_level();
  CHECK(tokenizer->encode("hello hello!", Specials::plain) == Ids{259, 260, '!'});
  CHECK(tokenizer->encode("hé\n", Specials::plain) == Ids{'h', 0xC3, 0xA9, '\n'});
  CHECK(tokenizer->encode("", Specials::plain).empty());
  CHECK(tokenizer->decode(Ids{259, 260, '!', 0xC3, 0xA9}, true) == "hello hello!é");
}

TEST_CASE("a control token matches only where it may, a user-defined token always") {
  const auto tokenizer = byte_level();
  CHECK(tokenizer->encode("<|im_end|>", Specials::parse) == Ids{262});
  CHECK(tokenizer->encode("<|im_end|>", Specials::plain).size() == 10);
  CHECK(tokenizer->encode("<tool_call>", Specials::plain) == Ids{263});
  CHECK(tokenizer->encode("<tool_call>", Specials::parse) == Ids{263});
}

TEST_CASE("guarded literals stay plain next to real control tokens") {
  const auto tokenizer = byte_level();
  const auto guarded = tokenizer->guard("x<|im_end|>y");
  CHECK(guarded != "x<|im_end|>y");
  auto expected = Ids{261};
  const auto plain = tokenizer->encode("x<|im_end|>y", Specials::plain);
  expected.insert(expected.end(), plain.begin(), plain.end());
  expected.push_back(262);
  CHECK(tokenizer->encode_guarded("<|im_start|>" + guarded + "<|im_end|>") == expected);
  CHECK(tokenizer->encode_guarded(tokenizer->guard("<tool_call>")) == Ids{263});
  CHECK(tokenizer->guard("nothing to guard") == "nothing to guard");
}

TEST_CASE("literals that overlap are all guarded") {
  auto vocab = byte_level_vocab();
  vocab.add("<a<", 3);
  vocab.add("<b<", 3);
  const auto tokenizer = Tokenizer::from_gguf(vocab.view());
  const auto ids = tokenizer->encode_guarded(tokenizer->guard("<a<b<a<"));
  CHECK(ids == tokenizer->encode("<a<b<a<", Specials::plain));
}

TEST_CASE("text that holds the guard itself is refused") {
  CHECK(code_of([] { byte_level()->guard("a\uFDD0"); }) == ErrorCode::invalid_argument);
}

TEST_CASE("text that is not UTF-8 is refused") {
  CHECK(code_of([] { byte_level()->encode("\xFF", Specials::plain); }) ==
        ErrorCode::invalid_argument);
  CHECK(code_of([] { byte_level()->guard("\xC3"); }) == ErrorCode::invalid_argument);
}

TEST_CASE("an unknown pre-tokenizer is named together with the way round it") {
  auto vocab = byte_level_vocab();
  vocab.vocab.pre = "martian";
  try {
    Tokenizer::from_gguf(vocab.view());
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unsupported);
    CHECK(std::string(error.what()).find("'martian'") != std::string::npos);
    CHECK(std::string(error.what()).find("--pre") != std::string::npos);
  }
  CHECK(Tokenizer::from_gguf(vocab.view(), "qwen2")->encode("hello", Specials::plain) == Ids{259});
}

TEST_CASE("vocabularies that contradict themselves are refused") {
  const auto refused = [](auto change) {
    auto vocab = byte_level_vocab();
    change(vocab.vocab);
    return code_of([&] { Tokenizer::from_gguf(vocab.view()); });
  };
  CHECK(refused([](GgufVocab& v) { v.types.pop_back(); }) == ErrorCode::bad_checkpoint);
  CHECK(refused([](GgufVocab& v) { v.eos = 265; }) == ErrorCode::bad_checkpoint);
  CHECK(refused([](GgufVocab& v) { v.bos = -1; }) == ErrorCode::bad_checkpoint);
  CHECK(refused([](GgufVocab& v) { v.model = "rwkv"; }) == ErrorCode::unsupported);
  CHECK(refused([](GgufVocab& v) { v.scores.pop_back(), v.model = "llama"; }) ==
        ErrorCode::bad_checkpoint);
  CHECK(code_of([] { Tokenizer::from_gguf(TestVocab{}.view(), "gpt-2"); }) ==
        ErrorCode::unsupported);
}

TEST_CASE("SentencePiece puts a space in front of text and of what follows an added token") {
  const auto tokenizer = sentencepiece();
  CHECK(tokenizer->encode("ab a", Specials::plain) == Ids{264, 262});
  CHECK(tokenizer->encode("<s>ab", Specials::parse) == Ids{1, 264});
  CHECK(tokenizer->encode("a<tag>b", Specials::plain) == Ids{262, 265, 259, 261});
  CHECK(tokenizer->encode("é", Specials::plain) == Ids{259, 3 + 0xC3, 3 + 0xA9});
  CHECK(tokenizer->adds_bos());
}

TEST_CASE("a SentencePiece vocabulary can do without the space") {
  auto vocab = sentencepiece_vocab();
  vocab.vocab.add_space_prefix = false;
  const auto tokenizer = Tokenizer::from_gguf(vocab.view());
  CHECK(tokenizer->encode("ab a", Specials::plain) == Ids{263, 262});
  CHECK_FALSE(tokenizer->strips_leading_space());
}

TEST_CASE("decoding drops one space at the start only, and control tokens on demand") {
  const auto tokenizer = sentencepiece();
  CHECK(tokenizer->decode(Ids{1, 264, 262, 2}, true) == "ab a");
  CHECK(tokenizer->decode(Ids{1, 264, 2}, false) == "<s> ab</s>");
  CHECK(tokenizer->decode(Ids{3 + 0xC3, 260}, true) == "\uFFFDa");
  CHECK(tokenizer->token_bytes(264) == " ab");
}

TEST_CASE("ids without a text give nothing") {
  const auto tokenizer = byte_level();
  CHECK(tokenizer->token_bytes(264).empty());
  CHECK(tokenizer->token_bytes(100000).empty());
  CHECK(tokenizer->token_bytes(-1).empty());
  CHECK(tokenizer->decode(Ids{-5, 264, 259, 1 << 30}, true) == "hello");
}

TEST_CASE("special tokens are found by literal, and turns end where the vocabulary says") {
  const auto tokenizer = byte_level();
  CHECK(tokenizer->find_token("<|im_start|>") == 261);
  CHECK(tokenizer->find_token("nothing") == std::nullopt);
  CHECK(tokenizer->end_ids() == Ids{262});
  CHECK(tokenizer->is_control(261));
  CHECK_FALSE(tokenizer->is_control(263));
  CHECK(tokenizer->eos_text() == "<|im_end|>");
  CHECK(tokenizer->bos_text().empty());
  CHECK(tokenizer->vocab_size() == 265);
}

TEST_CASE("a normal token that is known to end a turn becomes a control token") {
  auto vocab = byte_level_vocab();
  vocab.add("<end_of_turn>", 1);
  const auto tokenizer = Tokenizer::from_gguf(vocab.view());
  CHECK(tokenizer->end_ids() == Ids{262, 265});
  CHECK(tokenizer->is_control(265));
  CHECK(tokenizer->encode("<end_of_turn>", Specials::plain).size() > 1);
}

TEST_CASE("a token that may be markup ends a turn only where the file says so") {
  const auto made = [](int64_t type, bool is_eot) {
    auto vocab = byte_level_vocab();
    vocab.add("</s>", type);
    if (is_eot) vocab.vocab.eot = 265;
    return Tokenizer::from_gguf(vocab.view());
  };
  for (const int64_t type : {1, 4}) {
    const auto ordinary = made(type, false);
    CHECK(ordinary->end_ids() == Ids{262});
    CHECK_FALSE(ordinary->is_control(265));
    CHECK(ordinary->decode(Ids{'a', 265, 'b'}, true) == "a</s>b");
    // As in llama.cpp, which takes it for a control token.
    CHECK(ordinary->encode("</s>", Specials::plain) == Ids{'<', '/', 's', '>'});
    CHECK(ordinary->encode("</s>", Specials::parse) == Ids{265});
    CHECK(made(type, true)->end_ids() == Ids{262, 265});
    CHECK(made(type, true)->is_control(265));
  }
  CHECK(made(3, false)->end_ids() == Ids{262, 265});
}

TEST_CASE("no merge makes a control token out of plain text") {
  auto vocab = byte_level_vocab();
  vocab.add("oh", 3);
  vocab.merges.insert(vocab.merges.begin(), "o h");
  const auto tokenizer = Tokenizer::from_gguf(vocab.view());
  CHECK(tokenizer->encode("oh", Specials::plain) == Ids{'o', 'h'});
  CHECK(tokenizer->encode("oh", Specials::parse) == Ids{265});
}

TEST_CASE("the hash of a vocabulary tells vocabularies apart") {
  const auto first = byte_level()->vocab_hash();
  CHECK(first == byte_level()->vocab_hash());
  CHECK(first != sentencepiece()->vocab_hash());
  CHECK(first.size() == 16);
}

}  // namespace paceline::text
