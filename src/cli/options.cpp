#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iterator>

#include "base/utf8.h"
#include "cli/catalogue/catalogue.h"
#include "cli/command_check.h"
#include "cli/help.h"
#include "cli/numbers.h"
#include "cli/suggest.h"
#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

constexpr std::size_t kHelpColumn = 30;
constexpr int32_t kLogprobsMax = 20;  // limit of Request::logprobs
constexpr int32_t kThreadsMax = 1024;
constexpr int32_t kStepRowsMax = 64;  // limits of StepShape
constexpr int32_t kStepTokensMax = 4096;
constexpr int32_t kStepContextMax = 65535;

std::string with_default(const std::string& help, const std::string& default_text) {
  return help + " (default: " + default_text + ")";
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& into,
                      const std::string& help) {
  return app.add_option_function<std::string>(
      name, [&into](const std::string& text) { into = text; }, help);
}

void add_number(CLI::App& app, const std::string& name, int32_t& into, const IntegerRange& range,
                const std::string& help) {
  const auto assign = [name, range, &into](const std::string& text) {
    into = static_cast<int32_t>(parse_integer(name, text, range));
  };
  app.add_option_function<std::string>(name, assign, help)->type_name("N");
}

/// One of a few words; `assign` gets the word.
void add_choice(CLI::App& app, const std::string& name, std::vector<std::string> words,
                const std::string& help, const std::function<void(const std::string&)>& assign) {
  const std::string all = fmt::format("{}", fmt::join(words, "|"));
  const auto check = [name, words, all, assign](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) == words.end()) {
      throw UsageError(
          fmt::format("[{}] found '{}', expected {}", name, base::repair_utf8(text), all));
    }
    assign(text);
  };
  app.add_option_function<std::string>(name, check, help)->type_name(all);
}

void add_cache_dir(CLI::App& app, std::string& into) {
  add_text(app, "--cache-dir", into, with_default("where models are kept", "~/.cache/paceline"))
      ->type_name("DIR");
}

void add_model_flags(CLI::App& app, ModelFlags& flags) {
  add_cache_dir(app, flags.cache_dir);
  app.add_flag("--accept-licence", flags.accept_licence,
               with_default("accept the terms of a model that is fetched", "ask"));
}

void add_pre(CLI::App& app, std::string& into) {
  add_text(app, "--pre", into,
           with_default("pre-tokenizer of a GGUF vocabulary", "what the file says"))
      ->type_name("NAME");
}

void add_load_flags(CLI::App& app, LoadFlags& flags) {
  add_number(app, "--ctx", flags.context, {1},
             with_default("context, in tokens", "the model's, at most 8192"));
  add_number(app, "--threads", flags.threads, {1, kThreadsMax},
             with_default("CPU threads", "one per physical core"));
  add_choice(app, "--numerics", {"fast", "exact"},
             with_default("exact: f32 activations; fast: 8-bit ones", "fast"),
             [&flags](const std::string& word) { flags.exact = word == "exact"; });
  add_choice(app, "--isa", {"avx512", "avx2", "generic"},
             with_default("instruction set", "the best one"),
             [&flags](const std::string& word) { flags.isa = word; });
  add_choice(app, "--kv", {"bf16", "f16", "f32"},
             with_default("type of keys and values in memory", "bf16"),
             [&flags](const std::string& word) {
               flags.kv = word == "f32" ? KvType::f32 : word == "f16" ? KvType::f16 : KvType::bf16;
             });
  add_pre(app, flags.pre);
  add_text(app, "--chat-template", flags.chat_template_file,
           with_default("file with a Jinja chat template", "the model's own"))
      ->type_name("FILE");
}

void add_ops(CLI::App& app, LoadFlags& flags) {
  add_choice(app, "--ops", {"auto", "portable"},
             with_default("portable: plain MLX operations, slow", "auto"),
             [&flags](const std::string& word) { flags.portable = word == "portable"; });
}

/// --ops of bench: without a value the operation table.
void add_ops_or_table(CLI::App& app, BenchCommand& command) {
  const auto assign = [&command](const std::string& word) {
    if (!word.empty() && word != "auto" && word != "portable") {
      throw UsageError(
          fmt::format("[--ops] found '{}', expected auto|portable, or no value for the operation "
                      "table",
                      base::repair_utf8(word)));
    }
    command.operations = word.empty();
    command.load.portable = word == "portable";
  };
  app.add_option_function<std::string>(
         "--ops", assign,
         with_default("without a value: the operation table; portable: plain MLX operations",
                      "auto"))
      ->type_name("auto|portable")
      ->expected(0, 1);
}

void add_generation_settings(CLI::App& app, GenerationSettings& into) {
  for (const Setting& setting : generation_settings()) {
    const std::string flag = "--" + setting.name;
    const auto assign = [&setting, flag, &into](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) {
        setting.assign(into, flag, text);
      }
    };
    CLI::Option* option = app.add_option_function<std::vector<std::string>>(
        flag, assign, with_default(setting.help, setting.default_text));
    option->type_name(setting.value)->type_size(1)->expected(1)->allow_extra_args(false);
    option->multi_option_policy(setting.name == "stop" ? CLI::MultiOptionPolicy::TakeAll
                                                       : CLI::MultiOptionPolicy::TakeLast);
  }
}

/// The subcommands and what they fill in.
class Parser {
 public:
  Parser() : app_("An LLM engine for plain CPUs.", "paceline") {
    app_.get_formatter()->column_width(kHelpColumn);
    app_.set_help_flag("-h,--help", "this text");
    app_.add_flag("--version", version_flag_, "versions of Paceline and MLX, instruction sets");
    app_.allow_extras();
    app_.footer(examples_of(""));
    define_run();
    define_cache_commands();
    define_inspect();
    define_tokenize();
    define_bench();
    define_version();
  }

  Command parse(std::span<const std::string> words) {
    std::vector<std::string> reversed(words.rbegin(),
                                      words.rend());  // CLI11 wants the last word first
    try {
      app_.parse(reversed);
    } catch (const CLI::CallForHelp&) {
      return HelpCommand{help()};
    } catch (const CLI::ParseError& error) {
      throw UsageError(where(chosen()) + " " + error.what());
    }
    if (version_flag_) {
      return VersionCommand{};
    }
    CLI::App* sub = chosen();
    if (sub == nullptr) {
      refuse_word_instead_of_command();
    }
    refuse_extras(*sub);
    return finish(*sub);
  }

 private:
  CLI::App& define(const char* name, const char* description) {
    CLI::App* sub = app_.add_subcommand(name, description);
    sub->allow_extras();
    sub->footer(examples_of(name));
    return *sub;
  }

  void define_run() {
    CLI::App& app = define("run", "Answer a prompt, or chat when there is none");
    add_text(app, "MODEL", run_.model.model,
             with_default("catalogue name, .gguf or .safetensors file, or folder",
                          starter_model().name));
    app.add_option("PROMPT", run_.prompt, "what to answer; piped input is added below it");
    add_generation_settings(app, run_.generation);
    add_text(app, "--system", run_.system, with_default("system message", "none"))
        ->type_name("TEXT");
    app.add_flag("--raw", run_.raw,
                 with_default("no chat template; control tokens in PROMPT count", "off"));
    app.add_flag("--ignore-end", run_.ignore_end,
                 with_default("end-of-text tokens do not end the answer", "off"));
    add_number(app, "--logprobs", run_.logprobs, {0, kLogprobsMax},
               with_default("with --json: log-probabilities and N alternatives per token", "none"));
    app.add_flag("--json", run_.json, with_default("one JSON object instead of text", "off"));
    app.add_flag("-v,--verbose", run_.verbose,
                 with_default("load time and rates on standard error", "off"));
    add_load_flags(app, run_.load);
    add_ops(app, run_.load);
    add_model_flags(app, run_.model);
  }

  void define_cache_commands() {
    CLI::App& pull = define("pull", "Fetch a model of the catalogue");
    add_text(pull, "NAME", pull_.model.model, "name in the catalogue");
    add_model_flags(pull, pull_.model);
    CLI::App& list = define("list", "Show the catalogue and what is cached");
    list.add_flag("--json", list_.json, with_default("as JSON", "off"));
    add_cache_dir(list, list_.cache_dir);
    CLI::App& remove = define("rm", "Delete a cached model");
    add_text(remove, "NAME", remove_.model.model,
             "name in the catalogue, or file name in the cache");
    add_cache_dir(remove, remove_.model.cache_dir);
  }

  void define_inspect() {
    CLI::App& app = define("inspect", "Describe a model from its headers");
    add_text(app, "MODEL", inspect_.model.model, "catalogue name, file or folder");
    app.add_flag("--json", inspect_.json, with_default("as JSON", "off"));
    add_model_flags(app, inspect_.model);
  }

  void define_tokenize() {
    CLI::App& app = define("tokenize", "Show the tokens of a text");
    add_text(app, "MODEL", tokenize_.model.model,
             with_default("whose vocabulary", starter_model().name));
    app.add_option("TEXT", tokenize_text_, "text; - reads standard input");
    app.add_flag("--ids", tokenize_.ids_only, with_default("ids only, on one line", "off"));
    app.add_flag("--parse-special", tokenize_.parse_special,
                 with_default("control-token literals become control tokens", "off"));
    app.add_flag("--json", tokenize_.json, with_default("as JSON", "off"));
    add_pre(app, tokenize_.pre);
    add_model_flags(app, tokenize_.model);
  }

  void define_bench() {
    CLI::App& app = define("bench", "Measure speed");
    add_text(app, "MODEL", bench_.model.model,
             with_default("catalogue name, file or folder", starter_model().name));
    add_number(app, "--prompt", bench_.prompt, {1}, with_default("tokens of the prompt", "512"));
    add_number(app, "--generate", bench_.generate, {2},
               with_default("tokens of the answer", "128"));
    add_number(app, "--repeat", bench_.repeat, {1, 1000},
               with_default("measured runs, and rounds over the steps", "5"));
    define_bench_steps(app);
    app.add_flag("--json", bench_.json, with_default("as JSON", "off"));
    add_load_flags(app, bench_.load);
    add_ops_or_table(app, bench_);
    add_model_flags(app, bench_.model);
  }

  void define_bench_steps(CLI::App& app) {
    add_choice(app, "--measure", {"all", "answer", "steps"},
               with_default("answer: whole requests; steps: forwards alone", "all"),
               [this](const std::string& word) {
                 using Measure = BenchCommand::Measure;
                 bench_.measure = word == "all"      ? Measure::all
                                  : word == "answer" ? Measure::answer
                                                     : Measure::steps;
               });
    add_number(app, "--rows", bench_.rows, {1, kStepRowsMax},
               with_default("one step instead of the table: its sequences", "table"));
    add_number(app, "--new", bench_.new_tokens, {1, kStepTokensMax},
               with_default("its new tokens per sequence", "table"));
    add_number(app, "--context", bench_.context, {0, kStepContextMax},
               with_default("tokens that each sequence holds before it", "table"));
  }

  void define_version() {
    CLI::App& app = define("version", "Versions of Paceline and MLX, instruction sets");
    app.add_flag("--json", version_.json, with_default("as JSON", "off"));
  }

  CLI::App* chosen() const {
    const auto subs = app_.get_subcommands();
    return subs.empty() ? nullptr : subs.front();
  }

  std::string help() const {
    const CLI::App* sub = chosen();
    return sub == nullptr ? app_.help() : sub->help("paceline");
  }

  static std::string where(const CLI::App* sub) {
    return sub == nullptr ? "[paceline]" : "[" + sub->get_name() + "]";
  }

  [[noreturn]] void refuse_word_instead_of_command() const {
    const std::vector<std::string> words = app_.remaining();
    if (words.empty()) {
      throw UsageError("[paceline] found no command, expected one of " +
                       fmt::format("{}", fmt::join(commands(), ", ")) + " (paceline --help)");
    }
    throw UsageError(fmt::format("[paceline] found '{}', expected one of {}{}",
                                 base::repair_utf8(words.front()), fmt::join(commands(), ", "),
                                 did_you_mean(words.front(), commands())));
  }

  std::vector<std::string> commands() const {
    std::vector<std::string> names;
    for (const CLI::App* sub : app_.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
    }
    return names;
  }

  void refuse_extras(const CLI::App& sub) const {
    std::vector<std::string> extras = sub.remaining();
    const std::vector<std::string> before = app_.remaining();
    extras.insert(extras.begin(), before.begin(), before.end());
    extras.erase(std::remove(extras.begin(), extras.end(), "--"), extras.end());
    if (extras.empty()) {
      return;
    }
    const auto flag = std::find_if(extras.begin(), extras.end(), [](const std::string& word) {
      return word.size() > 1 && word.front() == '-';
    });
    if (flag == extras.end()) {
      throw UsageError(fmt::format(
          "{} found '{}' after the last argument, expected no more (quote texts with spaces)",
          where(&sub), base::repair_utf8(extras.front())));
    }
    const std::string name = flag->substr(0, flag->find('='));
    throw UsageError(fmt::format(
        "{} found the unknown option '{}', expected one of 'paceline {} --help'{}", where(&sub),
        base::repair_utf8(name), sub.get_name(), did_you_mean(name, options_of(sub))));
  }

  static std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
    return names;
  }

  Command finish(const CLI::App& sub) {
    const std::string& name = sub.get_name();
    if (name == "run") {
      return checked(run_);
    }
    if (name == "pull") {
      return checked(pull_);
    }
    if (name == "list") {
      return list_;
    }
    if (name == "rm") {
      return checked(remove_);
    }
    if (name == "inspect") {
      return checked(inspect_);
    }
    if (name == "tokenize") {
      return checked(tokenize_, tokenize_text_);
    }
    if (name == "bench") {
      return checked(bench_);
    }
    return version_;
  }

  CLI::App app_;
  bool version_flag_ = false;
  RunCommand run_;
  PullCommand pull_;
  ListCommand list_;
  RemoveCommand remove_;
  InspectCommand inspect_;
  TokenizeCommand tokenize_;
  std::optional<std::string> tokenize_text_;
  BenchCommand bench_;
  VersionCommand version_;
};

}  // namespace

Command parse_command(std::span<const std::string> words) { return Parser().parse(words); }

}  // namespace paceline::cli
