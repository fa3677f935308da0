#include "text/tokenizer.h"

#include "base/utf8.h"
#include "text/bridge_call.h"
#include "text/tokenizer_impl.h"

namespace paceline::text {
namespace {

class BridgeIds {
 public:
  BridgeIds() = default;
  ~BridgeIds() { pl_ids_free(ids_); }
  BridgeIds(const BridgeIds&) = delete;
  BridgeIds& operator=(const BridgeIds&) = delete;

  PlIds* out() { return &ids_; }
  std::vector<TokenId> copy() const { return {ids_.data, ids_.data + ids_.size}; }

 private:
  PlIds ids_{};
};

std::vector<TokenId> encode_in(const PlTokenizer* handle, std::string_view text, PlMode mode) {
  BridgeIds ids;
  BridgeText error;
  require_ok(pl_tokenizer_encode(handle, borrow(text), mode, ids.out(), error.out()), "tokenizer",
             error);
  return ids.copy();
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::string_view utf8, Specials specials) const {
  return encode_in(impl_->handle.get(), utf8, specials == Specials::parse ? PL_PARSE : PL_PLAIN);
}

std::vector<TokenId> Tokenizer::encode_guarded(std::string_view rendered) const {
  return encode_in(impl_->handle.get(), rendered, PL_GUARDED);
}

std::string Tokenizer::guard(std::string_view user_text) const {
  BridgeText guarded;
  BridgeText error;
  const auto status =
      pl_tokenizer_guard(impl_->handle.get(), borrow(user_text), guarded.out(), error.out());
  require_ok(status, "tokenizer", error);
  return std::string(guarded.view());
}

std::string Tokenizer::token_bytes(TokenId id) const {
  std::string bytes;
  impl_->table.append_bytes(id, bytes);
  return bytes;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skip_control) const {
  std::string bytes;
  for (const TokenId id : ids) {
    if (!skip_control || !is_control(id)) impl_->table.append_bytes(id, bytes);
  }
  const bool strip = impl_->strips_leading_space && bytes.starts_with(' ');
  return base::repair_utf8(std::string_view(bytes).substr(strip ? 1 : 0));
}

bool Tokenizer::strips_leading_space() const { return impl_->strips_leading_space; }
int32_t Tokenizer::vocab_size() const { return impl_->table.size(); }
bool Tokenizer::is_control(TokenId id) const { return impl_->table.is_control(id); }
std::optional<TokenId> Tokenizer::bos() const { return impl_->bos; }
std::optional<TokenId> Tokenizer::eos() const { return impl_->eos; }
const std::vector<TokenId>& Tokenizer::end_ids() const { return impl_->end_ids; }
bool Tokenizer::adds_bos() const { return impl_->adds_bos; }

std::string Tokenizer::bos_text() const {
  return impl_->bos ? std::string(impl_->table.literal(*impl_->bos)) : "";
}
std::string Tokenizer::eos_text() const {
  return impl_->eos ? std::string(impl_->table.literal(*impl_->eos)) : "";
}

std::optional<TokenId> Tokenizer::find_token(std::string_view literal) const {
  return impl_->table.find(literal);
}
std::string Tokenizer::vocab_hash() const { return impl_->table.hash(); }

}  // namespace paceline::text
