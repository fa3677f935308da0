#include "paceline/engine.h"

#include <algorithm>
#include <utility>

#include "engine/engine_impl.h"
#include "sampling/options.h"

namespace paceline {
namespace {

constexpr int32_t kLogprobsMax = 20;

void check_numbers(const Request& request) {
  const auto refuse = [](const std::string& field, int32_t value, const std::string& range) {
    throw Error(ErrorCode::invalid_argument,
                "[request] " + field + " is " + std::to_string(value) + ", expected " + range);
  };
  if (request.tokens_max < 0)
    refuse("tokens_max", request.tokens_max, ">= 0 (0 = up to the end of the context)");
  if (request.logprobs < -1 || request.logprobs > kLogprobsMax) {
    refuse("logprobs", request.logprobs,
           "in [-1, " + std::to_string(kLogprobsMax) + "] (-1 = none)");
  }
}

// How many tokens the answer may have.
int32_t answer_tokens(std::size_t prompt, int32_t tokens_max, int32_t context) {
  if (prompt >= static_cast<std::size_t>(context)) {
    throw Error(ErrorCode::context_overflow, "[prompt] found " + std::to_string(prompt) +
                                                 " tokens, expected fewer than the context of " +
                                                 std::to_string(context));
  }
  const int32_t room = context - static_cast<int32_t>(prompt);
  return tokens_max == 0 ? room : std::min(room, tokens_max);
}

engine::TextSource text_source(const std::shared_ptr<const text::Tokenizer>& tokenizer) {
  // Shared by the two functions, one of which std::function may copy.
  auto detokenizer = std::make_shared<text::Detokenizer>(tokenizer, true);
  return {.push = [detokenizer](TokenId id) { return detokenizer->push(id); },
          .finish = [detokenizer] { return detokenizer->finish(); }};
}

}  // namespace

const char* name(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::cancelled:
      return "cancelled";
    case FinishReason::error:
      return "error";
  }
  return "unknown";
}

void RequestHandle::cancel() const {
  if (state_) state_->cancelled = true;
}

void RequestHandle::wait() const {
  if (state_) state_->wait();
}

std::unique_ptr<Engine> Engine::Impl::make(std::unique_ptr<Impl> impl) {
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

namespace {

// A tokenizer file may state any id, and the model would read rows that it does not have.
void check_ids(std::span<const TokenId> ids, int32_t head_size) {
  for (const TokenId id : ids) {
    if (id >= 0 && (head_size == 0 || id < head_size)) continue;
    throw Error(ErrorCode::bad_checkpoint, "[tokenizer] gives token id " + std::to_string(id) +
                                               ", expected below the model's " +
                                               std::to_string(head_size));
  }
}

}  // namespace

engine::Job Engine::Impl::make_job(Request request, EventCallback on_event) const {
  check_numbers(request);
  sampling::validate(request.sampling, text.tokenizer->vocab_size());
  engine::Job job;
  job.stops = sampling::StopMatcher(std::move(request.stop));
  engine::Prompt prompt = engine::make_prompt(text, request);
  check_ids(prompt.ids, head_size);
  job.tokens_max = answer_tokens(prompt.ids.size(), request.tokens_max, info.context);
  job.prompt = std::move(prompt.ids);
  job.prompt_repaired = prompt.repaired;
  job.seed = request.sampling.seed ? *request.sampling.seed : sampling::random_seed();
  job.sampling = std::move(request.sampling);
  job.vocab_size = text.tokenizer->vocab_size();
  if (!request.ignore_end) job.end_ids = text.end_ids;
  job.logprobs = request.logprobs;
  job.text = text_source(text.tokenizer);
  job.on_event = std::move(on_event);
  job.state = std::make_shared<RequestHandle::State>();
  return job;
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

std::unique_ptr<Engine> Engine::load(const std::filesystem::path& model,
                                     const LoadOptions& options) {
  return engine::load_engine(model, options, {});
}

const ModelInfo& Engine::info() const { return impl_->info; }
const SamplingOptions& Engine::sampling_defaults() const { return impl_->text.defaults; }

std::vector<TokenId> Engine::tokenize(std::string_view text, bool parse_special) const {
  return engine::tokenize(*impl_->text.tokenizer, text, parse_special);
}

std::string Engine::detokenize(std::span<const TokenId> ids) const {
  return engine::detokenize(*impl_->text.tokenizer, ids);
}

std::string Engine::token_text(TokenId id) const { return impl_->text.tokenizer->token_bytes(id); }

std::string Engine::apply_template(std::span<const Message> messages,
                                   std::string_view variables_json) const {
  bool repaired = false;
  return engine::without_guards(engine::render(impl_->text, messages, variables_json, repaired));
}

RequestHandle Engine::submit(Request request, EventCallback on_event) {
  engine::Job job = impl_->make_job(std::move(request), std::move(on_event));
  RequestHandle handle(job.state);
  impl_->worker->submit(std::move(job));
  return handle;
}

void Engine::generate(Request request, EventCallback on_event) {
  submit(std::move(request), std::move(on_event)).wait();
}

}  // namespace paceline
