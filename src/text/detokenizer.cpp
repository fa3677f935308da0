#include "base/utf8.h"
#include "text/tokenizer.h"

namespace paceline::text {

Detokenizer::Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, bool skip_control)
    : tokenizer_(std::move(tokenizer)), skip_control_(skip_control) {}

std::string Detokenizer::push(TokenId id) {
  if (skip_control_ && tokenizer_->is_control(id)) return {};
  std::string bytes = tokenizer_->token_bytes(id);
  if (bytes.empty()) return {};
  if (at_start_ && tokenizer_->strips_leading_space() && bytes.front() == ' ') bytes.erase(0, 1);
  at_start_ = false;
  pending_ += bytes;
  const auto complete = base::complete_utf8_prefix(pending_);
  std::string text = base::repair_utf8(std::string_view(pending_).substr(0, complete));
  pending_.erase(0, complete);
  return text;
}

std::string Detokenizer::finish() {
  std::string text = base::repair_utf8(pending_);
  pending_.clear();
  return text;
}

}  // namespace paceline::text
