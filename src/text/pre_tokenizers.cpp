#include "text/pre_tokenizers.h"

#include <algorithm>
#include <span>

namespace paceline::text {
namespace {

constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kThreeDigits = R"(\p{N}{1,3})";

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Han, Hiragana and Katakana.
constexpr std::string_view kDeepseekCjk = R"([一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kDeepseekWords =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Letters with upper and lower case.
constexpr std::string_view kDeepseekLetters =
    R"(\s?[)"
    R"(A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ)"
    R"(-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK)"
    R"(-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-)"
    R"(𐳲𑢠-𑣟𞤀-𞥃)"
    R"(]+)";
constexpr std::string_view kDeepseekPunctuation = R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)";
constexpr std::string_view kDeepseekHanHangul = R"([一-龥ࠀ-一가-퟿]+)";

constexpr std::string_view kLines = R"([^\n]+|[\n]+)";

constexpr std::string_view kFalconPunctuation = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr std::string_view kDefaultPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";

struct Row {
  std::vector<std::string_view> names;
  PreTokenizer pre;
};

// Names and what they share: llama.cpp 0c1e57098, src/llama-vocab.cpp.
const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{"gpt-2", "gpt2", "phi-2", "jina-es", "jina-de", "gigachat", "a.x-4.0", "mellum",
        "modern-bert", "mpt", "olmo", "jais", "trillion", "granite-docling"},
       {{kGpt2}}},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b",
        "mellum2"},
       {{kDigit, kGpt2}}},
      {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
       {{kLlama3}, true, true, true}},
      {{"glm4", "glm5"}, {{kLlama3}, true}},
      {{"dbrx", "smaug-bpe", "chatglm-bpe"}, {{kLlama3}}},
      {{"qwen2", "deepseek-r1-qwen", "kormo", "stablelm2", "hunyuan", "solar-open", "megrez",
        "grok-2"},
       {{kQwen2}}},
      {{"qwen35"}, {{kQwen35}}},
      {{"tekken"}, {{kTekken}, true, true, true}},
      {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, {{kGpt4o}}},
      {{"deepseek-v3", "hunyuan-dense", "joyai-llm"},
       {{kThreeDigits, kDeepseekCjk, kDeepseekWords}}},
      {{"deepseek-llm"},
       {{"[\r\n]", kDeepseekLetters, kDeepseekPunctuation, R"(\s+$)", kDeepseekHanHangul,
         R"(\p{N}+)"}}},
      {{"deepseek-coder"},
       {{"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kDeepseekHanHangul, kDigit}}},
      {{"falcon"}, {{kFalconPunctuation, kGpt2, "[0-9][0-9][0-9]"}}},
      {{"gemma4", "granite-embed-multi-311m", "sarvam-moe"}, {{kLines}, false, false}},
      {{"default"}, {{kDefaultPunctuation, kGpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"}}},
  };
  return table;
}

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  for (const auto& row : rows()) {
    if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return &row.pre;
  }
  return nullptr;
}

}  // namespace paceline::text
