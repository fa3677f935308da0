#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/request.h"
#include "paceline/sampling.h"

namespace paceline::cli {

/// What the user asked for; what is absent comes from the model.
struct GenerationSettings {
  std::optional<int32_t> max_tokens;
  std::optional<float> temperature;
  std::optional<int32_t> top_k;
  std::optional<float> top_p;
  std::optional<float> min_p;
  std::optional<float> repeat_penalty;
  std::optional<float> presence_penalty;
  std::optional<float> frequency_penalty;
  std::optional<int32_t> penalty_window;
  std::optional<uint64_t> seed;
  std::vector<std::string> stop;
};

/// One setting: a flag of `run` and a name of the chat's /set.
struct Setting {
  std::string name{};   ///< "top-p"
  std::string value{};  ///< placeholder in help
  std::string help{};
  std::string default_text{};  ///< as help and docs/settings.md state it
  /// `where` goes into the UsageError.
  std::function<void(GenerationSettings&, std::string_view where, std::string_view text)> assign{};
  std::function<void(GenerationSettings&)> reset{};
  /// What was set, empty when nothing was.
  std::function<std::string(const GenerationSettings&)> show{};
};

const std::vector<Setting>& generation_settings();

/// The model's own settings with the user's on top.
SamplingOptions merge(const SamplingOptions& model, const GenerationSettings& user);

}  // namespace paceline::cli
