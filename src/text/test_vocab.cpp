#include "text/test_vocab.h"

#include <cstdio>

namespace paceline::text {
namespace {

std::string utf8(unsigned code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3FU))};
}

bool is_printable(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

}  // namespace

TestVocab byte_level_vocab() {
  TestVocab result;
  unsigned spare = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) result.add(utf8(is_printable(byte) ? byte : spare++));
  for (const char* word : {"he", "ll", "hell", "hello", "Ġhello"}) result.add(word);
  result.add("<|im_start|>", 3);
  result.add("<|im_end|>", 3);
  result.add("<tool_call>", 4);
  result.add("[PAD264]", 5);
  result.merges = {"h e", "l l", "he ll", "hell o", "Ġ hello"};
  result.vocab.model = "gpt2";
  result.vocab.pre = "gpt-2";
  result.vocab.eos = 262;
  return result;
}

TestVocab sentencepiece_vocab() {
  TestVocab result;
  result.add("<unk>", 2);
  result.add("<s>", 3);
  result.add("</s>", 3);
  for (int byte = 0; byte < 256; ++byte) {
    char literal[8];
    std::snprintf(literal, sizeof literal, "<0x%02X>", byte);
    result.add(literal, 6);
  }
  for (const char* piece : {"▁", "a", "b"}) result.add(piece, 1, -10);
  result.add("▁a", 1, -2);
  result.add("ab", 1, -3);
  result.add("▁ab", 1, -4);
  result.add("<tag>", 4);
  result.vocab.model = "llama";
  result.vocab.bos = 1;
  result.vocab.eos = 2;
  result.vocab.unknown = 0;
  return result;
}

}  // namespace paceline::text
