#include "paceline/tokenizer.h"

#include <utility>

#include "engine/text_model.h"
#include "formats/checkpoint.h"

namespace paceline {

struct Tokenizer::Impl {
  std::shared_ptr<const text::Tokenizer> tokenizer;  // shared, because its factories say so
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

std::unique_ptr<Tokenizer> Tokenizer::load(const std::filesystem::path& model,
                                           const std::string& pre_override) {
  auto impl = std::make_unique<Impl>();
  impl->tokenizer = engine::build_tokenizer(formats::open_checkpoint(model), pre_override);
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(impl)));
}

std::vector<TokenId> Tokenizer::tokenize(std::string_view text, bool parse_special) const {
  return engine::tokenize(*impl_->tokenizer, text, parse_special);
}

std::string Tokenizer::detokenize(std::span<const TokenId> ids) const {
  return engine::detokenize(*impl_->tokenizer, ids);
}

std::string Tokenizer::token_text(TokenId id) const { return impl_->tokenizer->token_bytes(id); }

}  // namespace paceline
