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

json parse_config(std::string_view text, std::string_view file) {
  if (text.empty()) return json::object();
  auto config = json::parse(text, nullptr, false);
  if (config.is_object()) return config;
  throw Error(ErrorCode::bad_checkpoint,
              "[" + std::string(file) + "] not a JSON object, expected one");
}

/// tokenizer_config.json; what it does not mention comes from special_tokens_map.json.
json merged_config(const TokenizerFiles& files) {
  json config = parse_config(files.tokenizer_config, "tokenizer_config.json");
  const json map = parse_config(files.special_tokens_map, "special_tokens_map.json");
  for (const char* name : {"bos_token", "eos_token"}) {
    if (!config.contains(name) && map.contains(name)) config[name] = map[name];
  }
  return config;
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

/// As add_bos_token says, or else the post-processor of the library. A vocabulary without a named
/// BOS takes that of the post-processor.
void set_bos(const json& config, Tokenizer::Impl& impl) {
  impl.bos = special_id(config, "bos_token", impl.table);
  const auto stated = config.find("add_bos_token");
  if (stated != config.end() && stated->is_boolean()) {
    impl.adds_bos = impl.bos && stated->get<bool>();
    return;
  }
  const TokenId leading = pl_tokenizer_leading_special(impl.handle.get());
  if (leading < 0) return;
  if (!config.contains("bos_token")) impl.bos = leading;
  impl.adds_bos = impl.bos == leading;
}

}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::from_json(const TokenizerFiles& files) {
  const json config = merged_config(files);
  TokenizerHandle handle = open(files.tokenizer);
  const bool sentencepiece = pl_tokenizer_decode_kind(handle.get()) == PL_DECODE_SENTENCEPIECE;
  auto impl =
      std::make_unique<Impl>(sentencepiece ? DecodeKind::sentencepiece : DecodeKind::byte_level);
  fill_table(handle.get(), impl->table);
  impl->strips_leading_space = pl_tokenizer_strips_leading_space(handle.get()) != 0;
  impl->handle = std::move(handle);
  impl->eos = special_id(config, "eos_token", impl->table);
  impl->end_ids = mark_end_tokens(impl->table, {impl->eos}).ids;
  set_bos(config, *impl);
  return std::make_shared<const Tokenizer>(std::move(impl));
}

}  // namespace paceline::text
