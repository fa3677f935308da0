#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/answer_json.h"
#include "cli/catalogue/cache.h"
#include "cli/console.h"
#include "cli/inspect_report.h"
#include "cli/load_bar.h"
#include "cli/machine.h"
#include "cli/numbers.h"

using namespace paceline;
using namespace paceline::cli;

namespace fs = std::filesystem;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() / ("paceline-cli-" + std::to_string(getpid()))) {
    fs::create_directories(path_ / "models");
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("a terminal gets no control characters") {
  CHECK(for_terminal("a\tb\n") == "a\tb\n");
  CHECK(for_terminal("a\x1b[31mb\r\n") == "a\xEF\xBF\xBD[31mb\n");
  CHECK(for_terminal("\xC2\x9B"
                     "1m\xC2\xA0") ==
        "\xEF\xBF\xBD"
        "1m\xC2\xA0");
  CHECK(for_terminal("\xE4\xB8\x96") == "\xE4\xB8\x96");
  CHECK(one_line("a\nb\tc") == "a b c");
}

TEST_CASE("numbers read the same in any locale") {
  CHECK(format_bytes(999) == "999 B");
  CHECK(format_bytes(98362432) == "98.4 MB");
  CHECK(format_bytes(1117320768) == "1.12 GB");
  CHECK(format_count(134515008) == "134.5 M");
  CHECK(format_real(0.95F) == "0.95");
  CHECK(shortest(0.1F) == 0.1);
}

TEST_CASE("the JSON of an answer has its fields in order") {
  Answer answer;
  answer.text = "hi";
  answer.tokens.push_back({.id = 7, .logprob = -0.1F, .top = {{7, -0.1F}, {9, -2.5F}}});
  answer.reason = FinishReason::length;
  answer.usage.prompt_tokens = 10;
  answer.usage.completion_tokens = 3;
  answer.usage.seed = 18446744073709551615U;
  answer.timings.prompt_ms = 100;
  answer.timings.decode_ms = 50;
  const auto text_of = [](TokenId id) { return id == 9 ? std::string("\xC3") : std::string("x"); };
  const auto json = nlohmann::ordered_json::parse(
      answer_json(answer, {.with_logprobs = true, .load_ms = 2, .token_text = text_of}));
  std::vector<std::string> keys;
  for (const auto& item : json.items()) {
    keys.push_back(item.key());
  }
  CHECK(keys == std::vector<std::string>{"text", "ids", "finish_reason", "logprobs",
                                         "prompt_tokens", "completion_tokens", "seed", "timings"});
  CHECK(json["finish_reason"] == "length");
  CHECK(json["seed"] == 18446744073709551615U);
  CHECK(json["logprobs"][0]["top"][1]["text"] == "\xEF\xBF\xBD");
  CHECK(json["logprobs"][0]["logprob"] == -0.1);
  CHECK(json["timings"]["prompt_tok_s"] == 100.0);
  CHECK(json["timings"]["decode_tok_s"] == 40.0);
  CHECK_FALSE(nlohmann::json::parse(answer_json(answer, {})).contains("logprobs"));
}

TEST_CASE("the cache knows whole files only and deletes nothing else") {
  const TemporaryFolder root;
  const CatalogueModel& model = starter_model();
  CHECK_FALSE(is_cached(root.path(), model));
  std::ofstream(path_in_cache(root.path(), model)) << "too short";
  CHECK_FALSE(is_cached(root.path(), model));
  fs::resize_file(path_in_cache(root.path(), model), static_cast<std::uintmax_t>(model.bytes));
  CHECK(is_cached(root.path(), model));
  std::ofstream(models_folder(root.path()) / ("." + model.file + ".partial")) << "12345";
  CHECK(cached_files(root.path()).size() == 1);
  std::ofstream(root.path() / "outside.gguf") << "x";
  CHECK_THROWS_AS(remove_cached(root.path(), "../outside.gguf"), Error);
  CHECK_THROWS_AS(remove_cached(root.path(), ""), Error);
  CHECK_THROWS_AS(remove_cached(root.path(), "."), Error);
  CHECK(remove_cached(root.path(), model.name) == model.bytes + 5);
  CHECK_FALSE(fs::exists(path_in_cache(root.path(), model)));
  CHECK_THROWS_AS(remove_cached(root.path(), model.name), Error);
  CHECK(fs::exists(root.path() / "outside.gguf"));
  CHECK(cached_files(root.path() / "none").empty());
}

TEST_CASE("a report names what is wrong with a model") {
  ModelReport report;
  report.name = "m";
  report.architecture = "new";
  report.nearest_architecture = "old";
  report.missing.assign(30, "a.weight");
  const std::string text = report_text(report);
  CHECK(text.find("new (not supported, the nearest known one is old)") != std::string::npos);
  CHECK(text.find("and 10 more") != std::string::npos);
  const auto json = nlohmann::json::parse(report_json(report));
  CHECK(json["missing"].size() == 30);
  CHECK(json["supported"] == false);
}

TEST_CASE("the machine has a name and a bandwidth") {
  CHECK_FALSE(cpu_name().empty());
  CHECK(read_bandwidth(1 << 20, 2) > 0);
}

TEST_CASE("the bar of a load tells rate and time left, and fits the terminal") {
  const BarState half{.fraction = 0.5, .seconds = 2, .bytes = 98400000, .columns = 80};
  CHECK(bar_line("m", half) ==
        "loading m  [##############..............]  50 % of 98.4 MB, 24.6 MB/s, 2 s left");
  CHECK(bar_line("m", {.columns = 60}) == "loading m  [" + std::string(40, '.') + "]  0 %");
  for (int columns = 1; columns < 200; ++columns) {
    BarState state = half;
    state.columns = columns;
    CHECK(bar_line("a-model.gguf", state).size() < static_cast<std::size_t>(columns));
  }
}
