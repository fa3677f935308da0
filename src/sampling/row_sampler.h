#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "paceline/request.h"
#include "paceline/sampling.h"
#include "sampling/history.h"

namespace paceline::sampling {

struct Draw {
  TokenId id = 0;
};

/// Chooses the tokens of one request: options, seed and the tokens that penalties see. One copyable
/// value: a copy that accepts other tokens never disturbs the original. Order: logit bias,
/// penalties, top-k, temperature, top-p, min-p, draw (docs/sampling.md). A draw is a pure function
/// of options, seed, history, logits and position.
class RowSampler {
 public:
  /// `options` has passed validate(). `prompt` enters the penalty window.
  RowSampler(const SamplingOptions& options, uint64_t seed, std::span<const TokenId> prompt);

  /// The token of absolute position `position` given its logits over the tokenizer's vocabulary
  /// (the caller leaves padded ids out). -inf is never drawn. Throws Error{internal} naming the
  /// position when a logit is NaN or +inf or when none is finite.
  Draw draw(std::span<const float> logits, int64_t position) const;
  /// Tells the sampler which token followed.
  void accept(TokenId id);

  uint64_t seed() const { return seed_; }
  const SamplingOptions& options() const { return *options_; }

 private:
  void adjust(std::span<float> logits) const;
  Draw draw_adjusted(std::span<const float> logits, int64_t position) const;

  std::shared_ptr<const SamplingOptions>
      options_;  // shared: copies of a sampler are made per draft
  uint64_t seed_;
  bool penalties_;
  History history_;
};

/// The chosen id's log-probability under softmax(logits) and the `top` most likely ids, by (logprob
/// descending, id ascending). Independent of sampling options. Throws like RowSampler::draw.
Token with_logprobs(std::span<const float> logits, TokenId chosen, int32_t top, int64_t position);

}  // namespace paceline::sampling
