#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include "array/runtime.h"
#include "engine/engine_impl.h"
#include "formats/checkpoint.h"

namespace paceline::engine {
namespace {

// More threads than cores only wait for each other; a few more are allowed so that results can be
// compared.
int32_t threads_max() {
  constexpr int32_t kAlways = 16;
  return std::max(kAlways, 2 * static_cast<int32_t>(std::thread::hardware_concurrency()));
}

void check(const LoadOptions& options) {
  const auto refuse = [](const std::string& field, int32_t value, const std::string& range) {
    throw Error(ErrorCode::invalid_argument,
                "[load] " + field + " is " + std::to_string(value) + ", expected " + range);
  };
  if (options.context < 0) refuse("context", options.context, ">= 0 (0 = the default)");
  if (options.threads < 0 || options.threads > threads_max()) {
    refuse("threads", options.threads, "0 (one per core) to " + std::to_string(threads_max()));
  }
}

std::string name_of(const std::filesystem::path& model) {
  const std::filesystem::path normal = std::filesystem::absolute(model).lexically_normal();
  return normal.has_filename() ? normal.filename().string()
                               : normal.parent_path().filename().string();
}

ModelInfo info_of(const formats::Checkpoint& checkpoint, const ModelFacts& facts) {
  ModelInfo info;
  info.architecture = checkpoint.architecture;
  for (const auto& file : checkpoint.files)
    info.file_bytes += static_cast<int64_t>(file->bytes().size());
  info.parameters = facts.parameters;
  info.resident_bytes = facts.resident_bytes;
  info.context_trained = facts.context_trained;
  info.exact = facts.exact;
  info.numerics = facts.numerics;
  info.instruction_set = facts.instruction_set;
  info.threads = facts.threads;
  return info;
}

// Drawing would read logits that the head does not have.
void check_vocabulary(int32_t tokenizer, int32_t head) {
  if (tokenizer <= head) return;
  throw Error(ErrorCode::bad_checkpoint, "[load] the tokenizer has " + std::to_string(tokenizer) +
                                             " tokens, expected at most the head's " +
                                             std::to_string(head));
}

}  // namespace

std::unique_ptr<Engine> load_engine(const std::filesystem::path& model, const LoadOptions& options,
                                    const Tuning& tuning) {
  const Clock::time_point start = Clock::now();
  array::check_mlx_version();
  check(options);
  auto checkpoint = std::make_shared<const formats::Checkpoint>(formats::open_checkpoint(model));
  // The text side needs no MLX and takes about as long as the weights.
  std::future<TextModel> text =
      std::async(std::launch::async, [&] { return build_text_model(*checkpoint, options); });
  ModelFacts facts;
  auto impl = std::make_unique<Engine::Impl>();
  impl->worker = std::make_unique<Worker>(
      [&] {
        LoadedModel loaded = load_model_executor(checkpoint, options, tuning);
        facts = std::move(loaded.facts);
        return std::move(loaded.executor);
      },
      tuning.prefill_tokens);
  impl->text = text.get();
  impl->info = info_of(*checkpoint, facts);
  impl->info.name = name_of(model);
  impl->info.vocab_size = impl->text.tokenizer->vocab_size();
  check_vocabulary(impl->info.vocab_size, facts.vocab_size);
  impl->head_size = facts.vocab_size;
  impl->info.context = facts.context;
  impl->info.has_chat_template = impl->text.chat_template != nullptr;
  impl->info.load_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return Engine::Impl::make(std::move(impl));
}

}  // namespace paceline::engine
