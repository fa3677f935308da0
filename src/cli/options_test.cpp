#include "cli/options.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/catalogue/catalogue.h"
#include "cli/usage_error.h"

using namespace paceline::cli;

namespace {

Command parse(const std::vector<std::string>& words) { return parse_command(words); }

std::string refusal(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

RunCommand run(std::vector<std::string> words) {
  words.insert(words.begin(), "run");
  return std::get<RunCommand>(parse(words));
}

}  // namespace

TEST_CASE("run without words has no model and no prompt") {
  const RunCommand command = run({});
  CHECK(command.model.model.empty());
  CHECK_FALSE(command.prompt);
  CHECK(command.logprobs == -1);
  CHECK_FALSE(command.generation.temperature);
}

TEST_CASE("run takes a model, a prompt and options in any order") {
  const RunCommand command =
      run({"--temperature", "0", "m.gguf", "--seed=7", "say hi", "--stop", "a", "--stop", "b",
           "--max-tokens", "5", "-v", "--json", "--logprobs", "3"});
  CHECK(command.model.model == "m.gguf");
  CHECK(command.prompt == "say hi");
  CHECK(command.generation.temperature == 0.0F);
  CHECK(command.generation.seed == 7);
  CHECK(command.generation.stop == std::vector<std::string>{"a", "b"});
  CHECK(command.generation.max_tokens == 5);
  CHECK(command.verbose);
  CHECK(command.logprobs == 3);
}

TEST_CASE("the last of a repeated option counts") {
  CHECK(run({"m", "--top-k", "3", "--top-k", "4"}).generation.top_k == 4);
}

TEST_CASE("negative values and words behind -- are values") {
  CHECK(run({"m", "--presence-penalty", "-1.5"}).generation.presence_penalty == -1.5F);
  CHECK(run({"m", "--penalty-window", "-1"}).generation.penalty_window == -1);
  CHECK(run({"m", "--", "--help me"}).prompt == "--help me");
  CHECK(run({"m", ""}).prompt == "");
}

TEST_CASE("load flags") {
  const RunCommand command =
      run({"m", "--ctx", "1024", "--threads", "2", "--ops", "portable", "--isa", "avx2", "--kv",
           "f32", "--pre", "x", "--chat-template", "t.jinja", "--cache-dir", "/c"});
  CHECK(command.load.context == 1024);
  CHECK(command.load.threads == 2);
  CHECK(command.load.portable);
  CHECK(command.load.isa == "avx2");
  CHECK(command.load.kv == paceline::KvType::f32);
  CHECK(run({"m", "--kv", "f16"}).load.kv == paceline::KvType::f16);
  CHECK(run({"m"}).load.kv == paceline::KvType::bf16);
  CHECK(command.load.pre == "x");
  CHECK(command.load.chat_template_file == "t.jinja");
  CHECK(command.model.cache_dir == "/c");
}

TEST_CASE("values out of range are refused with what would be right") {
  CHECK(refusal({"run", "m", "--temperature", "-1"}) ==
        "[--temperature] found '-1', expected a number of at least 0");
  CHECK(refusal({"run", "m", "--temperature", "nan"}) ==
        "[--temperature] found 'nan', expected a number of at least 0");
  CHECK(refusal({"run", "m", "--top-p", "0"}) ==
        "[--top-p] found '0', expected a number above 0 to 1");
  CHECK(refusal({"run", "m", "--top-k", "1.5"}) ==
        "[--top-k] found '1.5', expected a whole number of at least 0");
  CHECK(refusal({"run", "m", "--seed", "-1"})
            .starts_with("[--seed] found '-1', expected a whole number from 0 to"));
  CHECK(refusal({"run", "m", "--ctx", "0"}) ==
        "[--ctx] found '0', expected a whole number of at least 1");
  CHECK(refusal({"run", "m", "--ops", "fast"}) == "[--ops] found 'fast', expected auto|portable");
  CHECK(refusal({"run", "m", "--logprobs", "21", "--json"}) ==
        "[--logprobs] found '21', expected a whole number from 0 to 20");
  CHECK(refusal({"run", "m", "--stop", ""}) == "[--stop] found 0 bytes, expected 1 to 256");
  CHECK(refusal({"run", "m", "--max-tokens", "99999999999"})
            .starts_with("[--max-tokens] found '99999999999'"));
}

TEST_CASE("unknown words name their neighbour") {
  CHECK(refusal({"rnu"}).ends_with("did you mean 'run'?"));
  CHECK(refusal({"run", "m", "--temprature", "1"}).ends_with("did you mean '--temperature'?"));
  CHECK(refusal({"run", "m", "--temprature=1"}).ends_with("did you mean '--temperature'?"));
  CHECK(refusal({"run", "m", "a", "b"}) ==
        "[run] found 'b' after the last argument, expected no more (quote texts with spaces)");
  CHECK(refusal({}).starts_with("[paceline] found no command"));
  CHECK(refusal({"run", "m", "--seed"}).starts_with("[run] "));
}

TEST_CASE("options that contradict each other are refused") {
  CHECK(refusal({"run", "m", "--logprobs", "1"}).starts_with("[--logprobs]"));
  CHECK(refusal({"run", "m", "--raw", "--system", "x"}).starts_with("[--system]"));
  CHECK(refusal({"tokenize", "m", "x", "--ids", "--json"}).starts_with("[--ids]"));
}

TEST_CASE("tokenize: one word is the text, two are model and text") {
  const auto one = std::get<TokenizeCommand>(parse({"tokenize", "hello"}));
  CHECK(one.model.model.empty());
  CHECK(one.text == "hello");
  const auto two = std::get<TokenizeCommand>(parse({"tokenize", "m", "hello", "--ids"}));
  CHECK(two.model.model == "m");
  CHECK(two.text == "hello");
  CHECK(two.ids_only);
  CHECK(refusal({"tokenize"}).starts_with("[tokenize] found no text"));
}

TEST_CASE("the other commands") {
  CHECK(std::get<PullCommand>(parse({"pull", "n", "--accept-licence"})).model.accept_licence);
  CHECK(refusal({"pull"}).starts_with("[pull] found no model"));
  CHECK(std::get<ListCommand>(parse({"list", "--json"})).json);
  CHECK(std::get<RemoveCommand>(parse({"rm", "n"})).model.model == "n");
  CHECK(std::get<InspectCommand>(parse({"inspect", "n"})).model.model == "n");
  const auto bench = std::get<BenchCommand>(parse({"bench", "--generate", "16"}));
  CHECK(bench.prompt == 512);
  CHECK(bench.generate == 16);
  CHECK(bench.repeat == 5);
  CHECK(bench.measure == BenchCommand::Measure::all);
  CHECK_FALSE(bench.asks_for_step());
  CHECK_FALSE(bench.operations);
  CHECK(std::holds_alternative<VersionCommand>(parse({"--version"})));
  CHECK(std::holds_alternative<VersionCommand>(parse({"version"})));
}

TEST_CASE("bench: a step and the operation table") {
  const auto step = std::get<BenchCommand>(parse({"bench", "m", "--rows", "8", "--context", "0"}));
  CHECK(step.asks_for_step());
  CHECK(step.rows == 8);
  CHECK(step.new_tokens == 0);
  CHECK(step.context == 0);
  CHECK(std::get<BenchCommand>(parse({"bench", "--ops", "--json"})).operations);
  const auto portable = std::get<BenchCommand>(parse({"bench", "m", "--ops", "portable"}));
  CHECK(portable.load.portable);
  CHECK_FALSE(portable.operations);
  CHECK(refusal({"bench", "--ops", "m"}).starts_with("[--ops] found 'm', expected auto|portable"));
  CHECK(refusal({"bench", "--ops", "--new", "2"}).starts_with("[--ops]"));
  CHECK(refusal({"bench", "--new", "0"}) ==
        "[--new] found '0', expected a whole number from 1 to 4096");
  CHECK(refusal({"bench", "--rows", "3", "--new", "4096"}).starts_with("[--new]"));
  CHECK(refusal({"bench", "--rows", "64", "--context", "1025"}).starts_with("[--context]"));
}

TEST_CASE("help names every option and an example") {
  const std::string text = std::get<HelpCommand>(parse({"run", "--help"})).text;
  for (const char* word : {"--temperature", "--stop", "--chat-template", "Example", "default: "}) {
    CHECK(text.find(word) != std::string::npos);
  }
  CHECK(std::get<HelpCommand>(parse({"--help"})).text.find("tokenize") != std::string::npos);
}

TEST_CASE("the catalogue is built in and names its starter") {
  CHECK(find_model(starter_model().name) == &starter_model());
  CHECK(find_model("no such model") == nullptr);
  for (const CatalogueModel& model : catalogue()) {
    CHECK(model.bytes > 0);
    CHECK(model.sha256.size() == 64);
    CHECK(model.file.find('/') == std::string::npos);
  }
}

TEST_CASE("the user's settings go on top of the model's") {
  paceline::SamplingOptions model;
  model.top_k = 20;
  model.temperature = 0.3F;
  GenerationSettings user;
  user.temperature = 0.0F;
  const paceline::SamplingOptions merged = merge(model, user);
  CHECK(merged.top_k == 20);
  CHECK(merged.temperature == 0.0F);
  CHECK_FALSE(merged.seed);
}
