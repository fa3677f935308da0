#include "engine/text_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/utf8.h"
#include "engine/vocab_from_metadata.h"
#include "formats/model_defaults.h"

namespace paceline::engine {
namespace {

// Values that the sampler would refuse are left at Paceline's own defaults.
SamplingOptions sampling_of(const formats::GenerationDefaults& d) {
  SamplingOptions o;
  const auto finite = [](double x) {
    return std::isfinite(x) && x <= std::numeric_limits<float>::max();
  };
  if (d.temperature && *d.temperature >= 0 && finite(*d.temperature))
    o.temperature = static_cast<float>(*d.temperature);
  if (d.top_k && *d.top_k >= 0 && *d.top_k <= std::numeric_limits<int32_t>::max()) {
    o.top_k = static_cast<int32_t>(*d.top_k);
  }
  if (d.top_p && *d.top_p > 0 && *d.top_p <= 1) o.top_p = static_cast<float>(*d.top_p);
  if (d.min_p && *d.min_p >= 0 && *d.min_p <= 1) o.min_p = static_cast<float>(*d.min_p);
  if (d.repetition_penalty && *d.repetition_penalty > 0 && finite(*d.repetition_penalty)) {
    o.repeat_penalty = static_cast<float>(*d.repetition_penalty);
  }
  return o;
}

std::vector<TokenId> merged(std::vector<TokenId> ids, const std::vector<TokenId>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

std::shared_ptr<const text::Tokenizer> build_tokenizer(const formats::Checkpoint& checkpoint,
                                                       const std::string& pre_override) {
  if (checkpoint.source == formats::Source::gguf) {
    return text::Tokenizer::from_gguf(vocab_from_metadata(checkpoint.metadata), pre_override);
  }
  if (checkpoint.tokenizer_json.empty()) {
    throw Error(ErrorCode::bad_checkpoint, "[tokenizer] found no tokenizer.json beside '" +
                                               checkpoint.path.filename().string() +
                                               "', expected one");
  }
  return text::Tokenizer::from_json({checkpoint.tokenizer_json, checkpoint.tokenizer_config_json,
                                     checkpoint.special_tokens_map_json});
}

std::vector<TokenId> tokenize(const text::Tokenizer& tokenizer, std::string_view text,
                              bool parse_special) {
  const auto specials = parse_special ? text::Specials::parse : text::Specials::plain;
  return tokenizer.encode(base::repair_utf8(text), specials);
}

std::string detokenize(const text::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  return tokenizer.decode(ids, false);
}

TextModel build_text_model(const formats::Checkpoint& checkpoint, const LoadOptions& options) {
  TextModel model;
  const formats::GenerationDefaults defaults = formats::generation_defaults(checkpoint);
  model.defaults = sampling_of(defaults);
  model.tokenizer = build_tokenizer(checkpoint, options.pre_override);
  model.end_ids = merged(model.tokenizer->end_ids(), defaults.end_ids);
  const std::string source =
      options.chat_template.empty() ? formats::chat_template(checkpoint) : options.chat_template;
  if (!source.empty()) model.chat_template = std::make_shared<const text::ChatTemplate>(source);
  return model;
}

}  // namespace paceline::engine
