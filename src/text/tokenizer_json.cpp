#include <nlohmann/json.hpp>

#include "paceline/error.h"
#include "text/bridge_call.h"
#include "text/tokenizer_impl.h"

namespace paceline::text {
namespace {

using nlohmann::json;

constexpr std::string_view kWhere = "tokenizer.json";

TokenizerHandle open(std::string_view tokenizer_json) {
  PlTokenizer* handle = nullptr;
  BridgeText error;
  require_ok(pl_tokenizer_from_json(borrow(tokenizer_json), &handle, error.out()), kWhere, error);
  return TokenizerHandle(handle);
}

void fill_table(const PlTokenizer* handle, TokenTable& table) {
  const auto size = pl_tokenizer_size(handle);
  table.reserve(size);
  for (std::size_t id = 0; id < size; ++id) {
    BridgeText literal;
    BridgeText error;
    uint8_t type = 0;
    require_ok(
        pl_tokenizer_token(handle, static_cast<uint32_t>(id), literal.out(), &type, error.out()),
        kWhere, error);
    table.append(literal.view(), static_cast<TokenType>(type));
  }
}

json parse_config(std::string_view text) {
  if (text.empty()) return json::object();
  auto config = json::parse(text, nullptr, false);
  if (config.is_object()) return config;
  throw Error(ErrorCode::bad_checkpoint, "[tokenizer_config.json] not a JSON object, expected one");
}

/// The literal of "bos_token" and its like: a string, or an object with "content".
std::optional<TokenId> special_id(const json& config, const char* name, const TokenTable& table) {
  const auto found = config.find(name);
  if (found == config.end()) return std::nullopt;
  const json* literal = &*found;
  if (literal->is_object() && literal->contains("content")) literal = &(*literal)["content"];
  if (!literal->is_string()) return std::nullopt;
  return table.find(literal->get_ref<const std::string&>());
}

bool flag(const json& config, const char* name) {
  const auto found = config.find(name);
  return found != config.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::from_json(std::string_view tokenizer_json,
                                                      std::string_view tokenizer_config_json) {
  const json config = parse_config(tokenizer_config_json);
  TokenizerHandle handle = open(tokenizer_json);
  const bool sentencepiece = pl_tokenizer_decode_kind(handle.get()) == PL_DECODE_SENTENCEPIECE;
  auto impl =
      std::make_unique<Impl>(sentencepiece ? DecodeKind::sentencepiece : DecodeKind::byte_level);
  fill_table(handle.get(), impl->table);
  impl->strips_leading_space = pl_tokenizer_strips_leading_space(handle.get()) != 0;
  impl->handle = std::move(handle);
  impl->bos = special_id(config, "bos_token", impl->table);
  impl->eos = special_id(config, "eos_token", impl->table);
  impl->end_ids = mark_end_tokens(impl->table, {impl->eos});
  impl->adds_bos = impl->bos && flag(config, "add_bos_token");
  return std::make_shared<const Tokenizer>(std::move(impl));
}

}  // namespace paceline::text
