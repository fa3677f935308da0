#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocab.h"

namespace paceline::text {

using TokenId = int32_t;

/// Whether control-token literals inside the text become control tokens.
enum class Specials {
  plain,  ///< control tokens never match; user-defined tokens (GGUF type 4) still do
  parse,  ///< every added token matches
};

/// The texts of a Hugging Face folder; all but the first may be empty.
struct TokenizerFiles {
  std::string_view tokenizer;           ///< tokenizer.json
  std::string_view tokenizer_config;    ///< tokenizer_config.json
  std::string_view special_tokens_map;  ///< special_tokens_map.json, for what the config lacks
};

/// Text <-> ids. Immutable after construction, usable from any thread.
class Tokenizer {
 public:
  /// Throws Error{bad_checkpoint}; Error{unsupported} for a kind of tokenizer that is not known.
  static std::shared_ptr<const Tokenizer> from_json(const TokenizerFiles& files);
  /// Throws Error{unsupported} for an unknown model or pre, naming it and how to override
  /// (pre_override, `--pre NAME` on the command line).
  static std::shared_ptr<const Tokenizer> from_gguf(const GgufVocab& vocab,
                                                    std::string_view pre_override = {});

  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Ids of `utf8`, without BOS or EOS. Invalid UTF-8: Error{invalid_argument} (callers repair
  /// first).
  std::vector<TokenId> encode(std::string_view utf8, Specials specials) const;
  /// Ids of a rendered chat prompt or of message text in which guard() has been applied: control
  /// tokens that stand in the text match, U+FDD0 is removed, what was guarded stays plain.
  std::vector<TokenId> encode_guarded(std::string_view rendered) const;
  /// Puts U+FDD0 inside every control-token literal of user text. Throws Error{invalid_argument}
  /// when the text itself holds U+FDD0.
  std::string guard(std::string_view user_text) const;

  /// Bytes of one id when it follows other text (control tokens give their literal; padded ids give
  /// nothing).
  std::string token_bytes(TokenId id) const;
  /// Whole text of a sequence, control tokens skipped or kept; invalid bytes become U+FFFD.
  std::string decode(std::span<const TokenId> ids, bool skip_control) const;
  /// True when the format drops one leading space of a decoded sequence (SentencePiece with a
  /// prefix space).
  bool strips_leading_space() const;

  int32_t vocab_size() const;
  bool is_control(TokenId id) const;
  std::optional<TokenId> bos() const;
  std::optional<TokenId> eos() const;
  /// Every id that ends a turn as far as the vocabulary itself knows: eos, eot, eom and well-known
  /// literals such as "<|im_end|>"; those that markup may hold, as "</s>", only when declared
  /// control.
  const std::vector<TokenId>& end_ids() const;
  /// Whether a raw prompt starts with BOS.
  bool adds_bos() const;
  /// The literal of a special token, empty when there is none.
  std::string bos_text() const;
  std::string eos_text() const;
  std::optional<TokenId> find_token(std::string_view literal) const;
  /// 16 hex digits, the same for the same literals and types in every run; reads the whole
  /// vocabulary.
  std::string vocab_hash() const;

  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// Streaming decode of one sequence. Never emits half a code point and loses no byte: the pieces of
/// push() and finish() concatenated equal Tokenizer::decode() of all ids.
class Detokenizer {
 public:
  Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, bool skip_control);
  /// The text that became final with this id; may be empty.
  std::string push(TokenId id);
  /// What is still held back, invalid bytes as U+FFFD.
  std::string finish();

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool skip_control_;
  bool at_start_ = true;
  std::string pending_;
};

}  // namespace paceline::text
