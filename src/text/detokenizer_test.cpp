#include <doctest/doctest.h>

#include <random>

#include "base/utf8.h"
#include "text/test_vocab.h"
#include "text/tokenizer.h"

namespace paceline::text {
namespace {

std::string stream(const std::shared_ptr<const Tokenizer>& tokenizer,
                   const std::vector<TokenId>& ids, bool skip_control) {
  Detokenizer detokenizer(tokenizer, skip_control);
  std::string all;
  for (const TokenId id : ids) {
    const std::string piece = detokenizer.push(id);
    CHECK(base::is_valid_utf8(piece));
    all += piece;
  }
  return all + detokenizer.finish();
}

void check_random_streams(const std::shared_ptr<const Tokenizer>& tokenizer, unsigned seed) {
  std::mt19937 random(seed);
  // A little past both ends of the vocabulary.
  std::uniform_int_distribution<TokenId> any(-2, tokenizer->vocab_size() + 2);
  for (int round = 0; round < 500; ++round) {
    std::vector<TokenId> ids(random() % 40);
    for (auto& id : ids) id = any(random);
    CAPTURE(seed);
    CAPTURE(round);
    CHECK(stream(tokenizer, ids, true) == tokenizer->decode(ids, true));
    CHECK(stream(tokenizer, ids, false) == tokenizer->decode(ids, false));
  }
}

}  // namespace

TEST_CASE("the pieces of random byte-level ids add up to the decoded text") {
  check_random_streams(Tokenizer::from_gguf(byte_level_vocab().view()), 1);
}

TEST_CASE("the pieces of random SentencePiece ids add up to the decoded text") {
  check_random_streams(Tokenizer::from_gguf(sentencepiece_vocab().view()), 2);
}

TEST_CASE("half a code point waits for the rest") {
  Detokenizer detokenizer(Tokenizer::from_gguf(byte_level_vocab().view()), true);
  CHECK(detokenizer.push(0xF0) == "");
  CHECK(detokenizer.push(0x9F) == "");
  CHECK(detokenizer.push(0x98) == "");
  CHECK(detokenizer.push(0x80) == "😀");
  CHECK(detokenizer.push('a') == "a");
  CHECK(detokenizer.finish() == "");
}

TEST_CASE("bytes that never become a code point come out as the replacement character") {
  Detokenizer detokenizer(Tokenizer::from_gguf(byte_level_vocab().view()), true);
  CHECK(detokenizer.push(0xC3) == "");
  CHECK(detokenizer.push('a') == "\uFFFDa");
  CHECK(detokenizer.push(0xE2) == "");
  CHECK(detokenizer.finish() == "\uFFFD");
}

TEST_CASE("only the first space of a SentencePiece stream is dropped") {
  Detokenizer detokenizer(Tokenizer::from_gguf(sentencepiece_vocab().view()), true);
  CHECK(detokenizer.push(1) == "");      // <s>
  CHECK(detokenizer.push(264) == "ab");  // ▁ab
  CHECK(detokenizer.push(264) == " ab");
}

}  // namespace paceline::text
