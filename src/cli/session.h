#pragma once

#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/console.h"
#include "cli/options.h"

namespace paceline::cli {

/// A loaded model, what the user set, and the conversation so far.
class Session {
 public:
  /// Says once when the model has no chat template. Throws Error{invalid_argument} when a system
  /// message was given and there is none.
  Session(Engine& engine, const RunCommand& command, const Console& console);

  bool raw() const { return raw_; }
  /// Answers `text` after the conversation so far; streams unless --json. The turn is kept unless
  /// nothing came. Throws Error.
  Answer ask(const std::string& text, const Interrupt& interrupt);
  /// Forgets the conversation.
  void clear() { turns_.clear(); }

  GenerationSettings& settings() { return settings_; }
  const std::string& system() const { return system_; }
  /// Throws Error{invalid_argument} on a raw session.
  void set_system(const std::string& text);
  SamplingOptions sampling() const { return merge(engine_.sampling_defaults(), settings_); }

 private:
  Request make_request(const std::string& text);
  std::string repaired(const std::string& text);
  void say_repaired();
  void report(const Answer& answer) const;

  Engine& engine_;
  const RunCommand& command_;
  const Console& console_;
  bool raw_;
  bool said_repaired_ = false;
  GenerationSettings settings_;
  std::string system_;
  std::vector<Message> turns_;
};

}  // namespace paceline::cli
