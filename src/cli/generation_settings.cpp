#include "cli/generation_settings.h"

#include <fmt/format.h>

#include "cli/numbers.h"
#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

constexpr std::size_t kStopsMax = 16;  // limits of Request::stop
constexpr std::size_t kStopBytesMax = 256;

Setting integer(std::optional<int32_t> GenerationSettings::* member, const IntegerRange& range) {
  Setting setting{.value = std::string("N")};
  setting.assign = [=](GenerationSettings& s, std::string_view where, std::string_view text) {
    s.*member = static_cast<int32_t>(parse_integer(where, text, range));
  };
  setting.reset = [=](GenerationSettings& s) { (s.*member).reset(); };
  setting.show = [=](const GenerationSettings& s) {
    return s.*member ? std::to_string(*(s.*member)) : "";
  };
  return setting;
}

Setting real(std::optional<float> GenerationSettings::* member, const RealRange& range) {
  Setting setting{.value = std::string("X")};
  setting.assign = [=](GenerationSettings& s, std::string_view where, std::string_view text) {
    s.*member = parse_real(where, text, range);
  };
  setting.reset = [=](GenerationSettings& s) { (s.*member).reset(); };
  setting.show = [=](const GenerationSettings& s) {
    return s.*member ? format_real(*(s.*member)) : "";
  };
  return setting;
}

Setting seed() {
  Setting setting{.value = std::string("N")};
  setting.assign = [](GenerationSettings& s, std::string_view where, std::string_view text) {
    s.seed = parse_unsigned(where, text);
  };
  setting.reset = [](GenerationSettings& s) { s.seed.reset(); };
  setting.show = [](const GenerationSettings& s) { return s.seed ? std::to_string(*s.seed) : ""; };
  return setting;
}

void add_stop(GenerationSettings& settings, std::string_view where, std::string_view text) {
  if (text.empty() || text.size() > kStopBytesMax) {
    throw UsageError(
        fmt::format("[{}] found {} bytes, expected 1 to {}", where, text.size(), kStopBytesMax));
  }
  if (settings.stop.size() == kStopsMax) {
    throw UsageError(fmt::format("[{}] found more than {} strings, expected at most {}", where,
                                 kStopsMax, kStopsMax));
  }
  settings.stop.emplace_back(text);
}

Setting stop() {
  Setting setting{.value = std::string("TEXT")};
  setting.assign = add_stop;
  setting.reset = [](GenerationSettings& s) { s.stop.clear(); };
  setting.show = [](const GenerationSettings& s) {
    std::string all;
    for (const std::string& text : s.stop) {
      all += (all.empty() ? "'" : " '") + text + "'";
    }
    return all;
  };
  return setting;
}

Setting named(const char* name, Setting setting, const char* help, const char* default_text) {
  setting.name = name;
  setting.help = help;
  setting.default_text = default_text;
  return setting;
}

std::vector<Setting> make_settings_table() {
  using S = GenerationSettings;
  const RealRange penalty{-2, 2};
  return {
      named("max-tokens", integer(&S::max_tokens, {1}), "longest answer, in tokens",
            "to the end of the context"),
      named("temperature", real(&S::temperature, {0}), "0 takes the most likely token",
            "the model's, else 0.7"),
      named("top-k", integer(&S::top_k, {0}), "keep the N most likely tokens; 0 = off",
            "the model's, else 0"),
      named("top-p", real(&S::top_p, {0, 1, true}),
            "keep the likeliest tokens up to this probability; 1 = off", "the model's, else 0.95"),
      named("min-p", real(&S::min_p, {0, 1}),
            "keep tokens at least X times as likely as the best; 0 = off", "the model's, else 0"),
      named("repeat-penalty", real(&S::repeat_penalty, {.above_least = true}),
            "divide the logits of seen tokens; 1 = off", "the model's, else 1"),
      named("presence-penalty", real(&S::presence_penalty, penalty),
            "subtract once per seen token; -2 to 2", "0"),
      named("frequency-penalty", real(&S::frequency_penalty, penalty),
            "subtract per occurrence; -2 to 2", "0"),
      named("penalty-window", integer(&S::penalty_window, {-1}),
            "last tokens that penalties see; -1 = all, 0 = none", "64"),
      named("seed", seed(), "the same seed gives the same answer", "drawn"),
      named("stop", stop(), "end the answer before TEXT; repeatable, at most 16", "none"),
  };
}

template <typename T>
void take(T& into, const std::optional<T>& from) {
  if (from) {
    into = *from;
  }
}

}  // namespace

const std::vector<Setting>& generation_settings() {
  static const std::vector<Setting> table = make_settings_table();
  return table;
}

SamplingOptions merge(const SamplingOptions& model, const GenerationSettings& user) {
  SamplingOptions result = model;
  take(result.temperature, user.temperature);
  take(result.top_k, user.top_k);
  take(result.top_p, user.top_p);
  take(result.min_p, user.min_p);
  take(result.repeat_penalty, user.repeat_penalty);
  take(result.presence_penalty, user.presence_penalty);
  take(result.frequency_penalty, user.frequency_penalty);
  take(result.penalty_window, user.penalty_window);
  if (user.seed) {
    result.seed = user.seed;
  }
  return result;
}

}  // namespace paceline::cli
