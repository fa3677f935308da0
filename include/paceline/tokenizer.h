#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/error.h"
#include "paceline/export.h"
#include "paceline/sampling.h"

namespace paceline {

/// A model's vocabulary without its weights. Immutable; all methods may be called from any thread.
class PACELINE_EXPORT Tokenizer {
 public:
  /// `model` and `pre_override` are those of Engine::load. Throws Error with the codes of formats
  /// and text.
  static std::unique_ptr<Tokenizer> load(const std::filesystem::path& model,
                                         const std::string& pre_override = {});
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Ids of text without BOS; `parse_special` turns control-token literals into control tokens.
  std::vector<TokenId> tokenize(std::string_view text, bool parse_special) const;
  std::string detokenize(std::span<const TokenId> ids) const;
  /// The literal or bytes of one id.
  std::string token_text(TokenId id) const;

  struct Impl;

 private:
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline
