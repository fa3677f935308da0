#include "sampling/options.h"

#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>

#include "paceline/error.h"

namespace paceline::sampling {
namespace {

[[noreturn]] void refuse(const std::string& field, double value, const std::string& range) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << "[sampling] " << field << " is " << value << ", expected " << range;
  throw Error(ErrorCode::invalid_argument, text.str());
}

// NaN fails every comparison, so it is refused too.
void require(bool in_range, const char* field, double value, const char* range) {
  if (!in_range) refuse(field, value, range);
}

}  // namespace

void validate(const SamplingOptions& o, int32_t vocab_size) {
  require(o.temperature >= 0 && std::isfinite(o.temperature), "temperature", o.temperature, ">= 0");
  require(o.top_k >= 0, "top_k", o.top_k, ">= 0 (0 = off)");
  require(o.top_p > 0 && o.top_p <= 1, "top_p", o.top_p, "in (0, 1] (1 = off)");
  require(o.min_p >= 0 && o.min_p <= 1, "min_p", o.min_p, "in [0, 1] (0 = off)");
  require(o.repeat_penalty >= 0.01F && o.repeat_penalty <= 100.0F, "repeat_penalty",
          o.repeat_penalty, "0.01 to 100 (1 = off)");
  require(o.presence_penalty >= -2 && o.presence_penalty <= 2, "presence_penalty",
          o.presence_penalty, "in [-2, 2]");
  require(o.frequency_penalty >= -2 && o.frequency_penalty <= 2, "frequency_penalty",
          o.frequency_penalty, "in [-2, 2]");
  require(o.penalty_window >= -1, "penalty_window", o.penalty_window, ">= -1 (-1 = all, 0 = off)");
  for (const auto& [id, bias] : o.logit_bias) {
    const std::string field = "logit_bias[" + std::to_string(id) + "]";
    if (id < 0 || id >= vocab_size) {
      refuse(field + "'s token id", id, "in [0, " + std::to_string(vocab_size - 1) + "]");
    }
    const bool in_range = bias >= -100 && bias <= 100;  // false for NaN
    if (!in_range) refuse(field, bias, "in [-100, 100]");
  }
}

bool has_penalties(const SamplingOptions& o) {
  return o.penalty_window != 0 &&
         (o.repeat_penalty != 1 || o.presence_penalty != 0 || o.frequency_penalty != 0);
}

uint64_t random_seed() {
  std::random_device device;
  const uint64_t high = device();
  return ((high << 32) | device()) >> 11;
}

}  // namespace paceline::sampling
