// How well a model predicts texts: the same windows as llama-perplexity, so that its figures can be
// compared.
//   paceline_perplexity MODEL FILE... [--window 512] [--tokens N] [--threads N] [--isa NAME]
//                       [--numerics fast|exact] [--kv bf16|f32]
// Each file is cut into windows of --window tokens; a window starts with BOS in place of its first
// token where the model has one. The first half is context, the second half is scored. Standard
// output: one JSON object per window, {"file", "window", "tokens", "nll"}, where nll is the sum of
// -ln p over its scored tokens, then one with the totals. --tokens ends after that many scored
// ones.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/runtime.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "engine/model_executor.h"
#include "engine/text_model.h"

namespace {

using namespace paceline;

struct Settings {
  std::string model;
  std::vector<std::string> files;
  int32_t window = 512;
  int64_t tokens_max = 0;  // 0 = all
  LoadOptions load;
};

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "[paceline_perplexity] " + what);
}

int32_t number(const std::string& flag, const std::string& text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    refuse(fmt::format("{}: found '{}', expected a whole number", flag, text));
  return value;
}

void set(Settings& settings, const std::string& flag, const std::string& value) {
  if (flag == "--window") {
    settings.window = number(flag, value);
    if (settings.window < 4) refuse("--window: expected at least 4");
  } else if (flag == "--tokens") {
    settings.tokens_max = number(flag, value);
  } else if (flag == "--threads") {
    settings.load.threads = number(flag, value);
  } else if (flag == "--isa") {
    settings.load.isa = value;
  } else if (flag == "--numerics") {
    if (value != "fast" && value != "exact") refuse("--numerics: expected fast or exact");
    settings.load.numerics = value == "fast" ? Numerics::fast : Numerics::exact;
  } else if (flag == "--kv") {
    if (value != "bf16" && value != "f32") refuse("--kv: expected bf16 or f32");
    settings.load.kv_type = value == "f32" ? KvType::f32 : KvType::bf16;
  } else {
    refuse("found the unknown option " + flag);
  }
}

Settings parse(const std::vector<std::string>& words) {
  Settings settings;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--")) {
      if (i + 1 == words.size()) refuse(words[i] + " has no value");
      set(settings, words[i], words[i + 1]);
      ++i;
    } else if (settings.model.empty()) {
      settings.model = words[i];
    } else {
      settings.files.push_back(words[i]);
    }
  }
  if (settings.files.empty()) refuse("expected MODEL FILE...");
  settings.load.context = settings.window;
  return settings;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The tokens of a file, BOS first where the model wants one.
std::vector<TokenId> tokens_of(const text::Tokenizer& tokenizer, const std::string& path) {
  const std::string text = base::repair_utf8(read_file(path));
  std::vector<TokenId> ids = tokenizer.encode(text, text::Specials::plain);
  if (tokenizer.adds_bos() && tokenizer.bos()) ids.insert(ids.begin(), *tokenizer.bos());
  return ids;
}

/// -ln of the probability of `id` under softmax(logits).
double surprise(std::span<const float> logits, TokenId id) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
  return std::log(sum) + most - static_cast<double>(logits[static_cast<std::size_t>(id)]);
}

class Scorer {
 public:
  explicit Scorer(const Settings& settings)
      : settings_(settings),
        checkpoint_(
            std::make_shared<const formats::Checkpoint>(formats::open_checkpoint(settings.model))),
        text_(engine::build_text_model(*checkpoint_, settings.load)),
        model_(engine::load_model_executor(checkpoint_, settings.load, {})) {}

  void score(const std::string& file) {
    const std::vector<TokenId> ids = tokens_of(*text_.tokenizer, file);
    const auto window = static_cast<std::size_t>(settings_.window);
    for (std::size_t i = 0; (i + 1) * window <= ids.size() && !full(); ++i) {
      std::vector<TokenId> tokens(ids.begin() + static_cast<std::ptrdiff_t>(i * window),
                                  ids.begin() + static_cast<std::ptrdiff_t>((i + 1) * window));
      if (text_.tokenizer->adds_bos() && text_.tokenizer->bos())
        tokens.front() = *text_.tokenizer->bos();
      const int32_t scored = settings_.window - 1 - settings_.window / 2;
      const double nll = score_window(tokens, scored);
      nll_ += nll;
      tokens_ += scored;
      fmt::print("{{\"file\": {}, \"window\": {}, \"tokens\": {}, \"nll\": {:.9g}}}\n",
                 base::json_quote(file), i, scored, nll);
      std::fflush(stdout);
    }
  }

  void print_total() const {
    if (tokens_ == 0) refuse("the files have no whole window");
    const double mean = nll_ / static_cast<double>(tokens_);
    fmt::print(
        "{{\"model\": {}, \"isa\": {}, \"numerics\": {}, \"window\": {}, \"tokens\": {}, "
        "\"mean_nll\": {:.9g}, "
        "\"perplexity\": {:.9g}}}\n",
        base::json_quote(checkpoint_->path.filename().string()),
        base::json_quote(model_.facts.instruction_set), base::json_quote(model_.facts.numerics),
        settings_.window, tokens_, mean, std::exp(mean));
  }

 private:
  bool full() const { return settings_.tokens_max > 0 && tokens_ >= settings_.tokens_max; }

  /// The last token is predicted, not read.
  double score_window(std::span<const TokenId> tokens, int32_t scored) {
    const auto sequence = model_.executor->new_sequence();
    const engine::ProbeRow row{
        .sequence = sequence.get(), .tokens = tokens.first(tokens.size() - 1), .wanted = scored};
    const std::span<const float> logits = model_.executor->probe({&row, 1});
    const std::size_t head = logits.size() / static_cast<std::size_t>(scored);
    const auto vocab = static_cast<std::size_t>(text_.tokenizer->vocab_size());
    double nll = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(scored); ++i) {
      const TokenId next = tokens[tokens.size() - static_cast<std::size_t>(scored) + i];
      nll += surprise(logits.subspan(i * head, vocab), next);
    }
    return nll;
  }

  const Settings& settings_;
  std::shared_ptr<const formats::Checkpoint> checkpoint_;  // shared with the model
  engine::TextModel text_;
  engine::LoadedModel model_;
  double nll_ = 0;
  int64_t tokens_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const Settings settings = parse({argv + 1, argv + argc});
    array::check_mlx_version();
    Scorer scorer(settings);
    for (const std::string& file : settings.files) scorer.score(file);
    scorer.print_total();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
