#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cli/generation_settings.h"
#include "paceline/engine.h"

namespace paceline::cli {

/// Which model, and where the cache is.
struct ModelFlags {
  std::string model;      ///< empty = the catalogue's starter
  std::string cache_dir;  ///< empty = Settings::cache_root
  bool accept_licence = false;
};

/// How a model is loaded.
struct LoadFlags {
  int32_t context = 0;  ///< 0 = min(the model's, 8192)
  int32_t threads = 0;  ///< 0 = one per physical core
  bool portable = false;
  bool exact = false;  ///< numerics
  KvType kv = KvType::bf16;
  std::string isa{};
  std::string pre{};
  std::string chat_template_file{};
};

struct RunCommand {
  ModelFlags model;
  LoadFlags load;
  GenerationSettings generation;
  std::optional<std::string> prompt;
  std::string system;
  int32_t logprobs = -1;
  bool raw = false;
  bool ignore_end = false;
  bool json = false;
  bool verbose = false;
};

struct PullCommand {
  ModelFlags model;
};

struct ListCommand {
  std::string cache_dir;
  bool json = false;
};

struct RemoveCommand {
  ModelFlags model;
};

struct InspectCommand {
  ModelFlags model;
  bool json = false;
};

struct TokenizeCommand {
  ModelFlags model;
  std::string pre;
  std::string text;  ///< "-" = standard input
  bool ids_only = false;
  bool parse_special = false;
  bool json = false;
};

struct BenchCommand {
  enum class Measure { all, answer, steps };

  ModelFlags model;
  LoadFlags load;
  Measure measure = Measure::all;
  int32_t prompt = 512;
  int32_t generate = 128;
  int32_t repeat = 5;
  int32_t rows = 0;         ///< 0 = not given, as the next one
  int32_t new_tokens = 0;   ///< per row
  int32_t context = -1;     ///< tokens of each row; -1 = not given
  bool operations = false;  ///< the operation table instead of a model
  bool json = false;

  /// Whether one step is measured instead of the usual table of steps.
  bool asks_for_step() const { return rows > 0 || new_tokens > 0 || context >= 0; }
};

struct VersionCommand {
  bool json = false;
};

/// --help was asked for; the text goes to standard output.
struct HelpCommand {
  std::string text;
};

using Command = std::variant<RunCommand, PullCommand, ListCommand, RemoveCommand, InspectCommand,
                             TokenizeCommand, BenchCommand, VersionCommand, HelpCommand>;

/// Reads the words after the program's name. Throws UsageError.
Command parse_command(std::span<const std::string> words);

}  // namespace paceline::cli
