#include "paceline/error.h"
#include "text/bridge_call.h"
#include "text/pre_tokenizers.h"
#include "text/tokenizer_impl.h"

namespace paceline::text {
namespace {

constexpr std::string_view kWhere = "tokenizer";

[[noreturn]] void fail(ErrorCode code, const std::string& text) {
  throw Error(code, "[" + std::string(kWhere) + "] " + text);
}

void require_id(const GgufVocab& vocab, const std::optional<int32_t>& id, std::string_view name) {
  if (!id || (*id >= 0 && static_cast<std::size_t>(*id) < vocab.tokens.size())) return;
  fail(ErrorCode::bad_checkpoint, std::string(name) + " id " + std::to_string(*id) +
                                      ", expected below " + std::to_string(vocab.tokens.size()) +
                                      " tokens");
}

void require_consistent(const GgufVocab& vocab) {
  const auto size = vocab.tokens.size();
  if (size == 0) fail(ErrorCode::bad_checkpoint, "no tokens, expected a vocabulary");
  if (!vocab.types.empty() && vocab.types.size() != size) {
    fail(ErrorCode::bad_checkpoint,
         std::to_string(vocab.types.size()) + " token types, expected " + std::to_string(size));
  }
  if (vocab.model == "llama" && vocab.scores.size() != size) {
    fail(ErrorCode::bad_checkpoint,
         std::to_string(vocab.scores.size()) + " token scores, expected " + std::to_string(size));
  }
  require_id(vocab, vocab.bos, "bos");
  require_id(vocab, vocab.eos, "eos");
  require_id(vocab, vocab.eot, "eot");
  require_id(vocab, vocab.eom, "eom");
  require_id(vocab, vocab.unknown, "unknown");
}

/// What a vocabulary's words are cut by; SentencePiece cuts nowhere.
PreTokenizer pre_tokenizer_of(const GgufVocab& vocab, std::string_view pre_override) {
  if (vocab.model == "llama") return {.splits = {}, .byte_level = false, .adds_bos = true};
  if (vocab.model != "gpt2" && vocab.model != "gemma4") {
    fail(ErrorCode::unsupported,
         "tokenizer model '" + vocab.model + "', expected gpt2, llama or gemma4");
  }
  std::string_view pre =
      vocab.model == "gemma4" ? std::string_view("gemma4") : std::string_view(vocab.pre);
  if (!pre_override.empty()) pre = pre_override;
  if (pre.empty()) pre = "default";
  const PreTokenizer* found = find_pre_tokenizer(pre);
  if (!found) {
    fail(ErrorCode::unsupported,
         "unknown pre-tokenizer '" + std::string(pre) +
             "', expected a known one; --pre NAME overrides (for example --pre llama-bpe)");
  }
  return *found;
}

TokenType type_of(int64_t stated) {
  if (stated < 1 || stated > 6) return TokenType::normal;
  return static_cast<TokenType>(stated);
}

void fill_table(const GgufVocab& vocab, TokenTable& table) {
  table.reserve(vocab.tokens.size());
  for (std::size_t i = 0; i < vocab.tokens.size(); ++i) {
    table.append(vocab.tokens[i],
                 vocab.types.empty() ? TokenType::normal : type_of(vocab.types[i]));
  }
}

std::vector<PlBytes> borrow_all(std::span<const std::string_view> texts) {
  std::vector<PlBytes> borrowed;
  borrowed.reserve(texts.size());
  for (const auto text : texts) borrowed.push_back(borrow(text));
  return borrowed;
}

/// Types as the encoder sees them: `unreachable` tokens are control tokens too, so that plain text
/// never becomes them; llama.cpp does the same.
std::vector<uint8_t> encoding_types(const TokenTable& table,
                                    const std::vector<TokenId>& unreachable) {
  std::vector<uint8_t> types;
  types.reserve(static_cast<std::size_t>(table.size()));
  for (TokenId id = 0; id < table.size(); ++id)
    types.push_back(static_cast<uint8_t>(table.type(id)));
  for (const TokenId id : unreachable) types[static_cast<std::size_t>(id)] = PL_CONTROL;
  return types;
}

TokenizerHandle build(const GgufVocab& vocab, const PreTokenizer& pre,
                      const std::vector<uint8_t>& types) {
  const bool sentencepiece = vocab.model == "llama";
  const auto tokens = borrow_all(vocab.tokens);
  const auto merges = borrow_all(vocab.merges);
  const auto splits = borrow_all(pre.splits);
  const PlVocab parts = {.tokens = tokens.data(),
                         .types = types.data(),
                         .token_count = tokens.size(),
                         .merges = merges.data(),
                         .merge_count = merges.size(),
                         .scores = sentencepiece ? vocab.scores.data() : nullptr,
                         .splits = splits.data(),
                         .split_count = splits.size(),
                         .unknown = vocab.unknown.value_or(-1),
                         .byte_level = pre.byte_level,
                         .escape_spaces = !pre.byte_level,
                         .prefix_space = sentencepiece && vocab.add_space_prefix.value_or(true),
                         .ignore_merges = pre.ignore_merges};
  PlTokenizer* handle = nullptr;
  BridgeText error;
  require_ok(pl_tokenizer_from_vocab(&parts, &handle, error.out()), kWhere, error);
  return TokenizerHandle(handle);
}

}  // namespace

std::string vocab_kind(const GgufVocab& vocab) {
  if (vocab.model.empty()) return "none";
  if (vocab.model == "llama") return "sentencepiece";
  return vocab.pre.empty() ? vocab.model : vocab.model + " (pre " + vocab.pre + ")";
}

std::shared_ptr<const Tokenizer> Tokenizer::from_gguf(const GgufVocab& vocab,
                                                      std::string_view pre_override) {
  const PreTokenizer pre = pre_tokenizer_of(vocab, pre_override);
  require_consistent(vocab);
  const bool sentencepiece = vocab.model == "llama";
  auto impl =
      std::make_unique<Impl>(pre.byte_level ? DecodeKind::byte_level : DecodeKind::sentencepiece);
  fill_table(vocab, impl->table);
  EndTokens ends = mark_end_tokens(impl->table, {vocab.eos, vocab.eot, vocab.eom});
  impl->end_ids = std::move(ends.ids);
  impl->handle = build(vocab, pre, encoding_types(impl->table, ends.ordinary));
  impl->bos = vocab.bos;
  impl->eos = vocab.eos;
  // Files of Gemma 4 that say no are wrong (llama.cpp, pull request 21500).
  impl->adds_bos = vocab.bos && (vocab.add_bos.value_or(pre.adds_bos) || vocab.model == "gemma4");
  impl->strips_leading_space = sentencepiece && vocab.add_space_prefix.value_or(true);
  return std::make_shared<const Tokenizer>(std::move(impl));
}

}  // namespace paceline::text
