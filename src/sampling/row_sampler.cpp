#include "sampling/row_sampler.h"

#include <vector>

#include "sampling/fixed_math.h"
#include "sampling/logit_row.h"
#include "sampling/noisy_argmax.h"
#include "sampling/options.h"
#include "sampling/rng.h"

namespace paceline::sampling {

RowSampler::RowSampler(const SamplingOptions& options, uint64_t seed,
                       std::span<const TokenId> prompt)
    : options_(std::make_shared<const SamplingOptions>(options)),
      seed_(seed),
      penalties_(has_penalties(options)),
      history_(penalties_ ? options.penalty_window : 0) {
  if (!penalties_) return;
  const auto window = static_cast<std::size_t>(options.penalty_window);
  if (options.penalty_window > 0 && prompt.size() > window) prompt = prompt.last(window);
  for (const TokenId id : prompt) history_.push(id);
}

void RowSampler::accept(TokenId id) { history_.push(id); }

Draw RowSampler::draw(std::span<const float> logits, int64_t position) const {
  if (!penalties_ && options_->logit_bias.empty()) return draw_adjusted(logits, position);
  // Kept per thread: a fresh 600 KB costs more in page faults than the copy.
  thread_local std::vector<float> adjusted;
  adjusted.assign(logits.begin(), logits.end());
  adjust(adjusted);
  return draw_adjusted(adjusted, position);
}

void RowSampler::adjust(std::span<float> logits) const {
  const auto size = static_cast<TokenId>(logits.size());
  for (const auto& [id, bias] : options_->logit_bias) {
    if (id < size) logits[static_cast<std::size_t>(id)] += bias;
  }
  for (const auto& [id, count] : history_.counts()) {
    if (id < 0 || id >= size) continue;
    float& logit = logits[static_cast<std::size_t>(id)];
    logit = logit < 0 ? logit * options_->repeat_penalty : logit / options_->repeat_penalty;
    logit -= options_->presence_penalty;
    logit -= options_->frequency_penalty * static_cast<float>(count);
  }
}

Draw RowSampler::draw_adjusted(std::span<const float> logits, int64_t position) const {
  const SamplingOptions& o = *options_;
  const LogitRow row(logits, position);
  if (o.temperature == 0) return {row.argmax()};
  Cut support;
  if (o.top_k > 0) support = top_k_cut(row, static_cast<std::size_t>(o.top_k));
  if (o.top_p < 1) support = top_p_cut(row, o.top_p, o.temperature, support);
  if (o.min_p > 0) support = shorter(support, min_p_cut(row, o.min_p, o.temperature));
  return {noisy_argmax(row, o.temperature, support, draw_key(seed_, position))};
}

Token with_logprobs(std::span<const float> logits, TokenId chosen, int32_t top, int64_t position) {
  const LogitRow row(logits, position);
  const double total = static_cast<double>(total_weight(row, 1)) * 0x1p-40;
  const double log_sum = static_cast<double>(row.max()) + log_fixed(total);
  const auto logprob = [&](TokenId id) {
    return static_cast<float>(row[static_cast<std::size_t>(id)] - log_sum);
  };
  Token token{.id = chosen, .logprob = logprob(chosen), .top = {}};
  for (const TokenId id : best_ids(row, static_cast<std::size_t>(top))) {
    token.top.push_back({id, logprob(id)});
  }
  return token;
}

}  // namespace paceline::sampling
