// A stand-in for the engine behind include/paceline, so that the command line is tested without a
// model. One token is one code point of the answer or one byte of a prompt. What the user writes
// chooses what happens: see answer_to().
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/utf8.h"
#include "paceline/engine.h"
#include "paceline/inspect.h"
#include "paceline/tokenizer.h"
#include "paceline/version.h"

namespace paceline {

struct RequestHandle::State {
  std::atomic<bool> cancelled = false;
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false;
};

void RequestHandle::cancel() const { state_->cancelled = true; }

void RequestHandle::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->finished; });
}

struct Engine::Impl {
  ModelInfo info;
  SamplingOptions defaults;
  std::string chat_template;
  std::vector<std::jthread> threads;
};

namespace {

struct Script {
  std::string text;
  int delay_ms = 0;
  bool fails = false;
};

std::string describe(const Request& request) {
  const SamplingOptions& s = request.sampling;
  return fmt::format("temperature {} top-k {} top-p {} window {} max {} stops {}", s.temperature,
                     s.top_k, s.top_p, s.penalty_window, request.tokens_max, request.stop.size());
}

std::string last_user_text(const Request& request) {
  return request.messages.empty() ? request.prompt : request.messages.back().content;
}

Script answer_to(const Request& request, const Engine::Impl& engine) {
  const std::string said = last_user_text(request);
  if (said.starts_with("slow")) {
    std::string ticks;
    for (int i = 0; i < 500; ++i) {
      ticks += "tick ";
    }
    return {.text = ticks, .delay_ms = 5};
  }
  if (said == "fail") {
    return {.text = "half an ", .fails = true};
  }
  if (said == "settings") {
    return {.text = describe(request)};
  }
  if (said == "load") {
    return {.text = fmt::format("context {} threads {} isa {} template '{}'", engine.info.context,
                                engine.info.threads, engine.info.instruction_set,
                                engine.chat_template)};
  }
  if (said == "unicode") {
    return {.text = "h\u00e9llo \u4e16\u754c \U0001F389"};
  }
  if (said == "escape") {
    return {.text = "a\x1b[31mb\x07\r\nc\u009bd"};
  }
  if (request.messages.empty()) {
    return {.text = fmt::format("raw {} bytes: {}", said.size(), said)};
  }
  const bool system = request.messages.front().role == "system";
  return {.text = fmt::format("{}{} messages, last: {}",
                              system ? "system '" + request.messages.front().content + "', " : "",
                              request.messages.size(), said)};
}

std::vector<std::string> code_points(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U && !pieces.empty()) {
      pieces.back() += c;
    } else {
      pieces.emplace_back(1, c);
    }
  }
  return pieces;
}

TokenId id_of(const std::string& piece) {
  TokenId id = 0;
  for (const char c : piece) {
    id = id * 31 + static_cast<unsigned char>(c);
  }
  return id & 0xFFFF;
}

Event token_event(const std::string& piece, const Request& request) {
  Event event;
  event.text = piece;
  event.token.id = id_of(piece);
  if (request.logprobs >= 0) {
    event.token.logprob = -0.1F;
    for (int i = 0; i < request.logprobs; ++i) {
      event.token.top.push_back({event.token.id + i, -0.1F - static_cast<float>(i)});
    }
  }
  return event;
}

std::string cut_at_stop(std::string text, const std::vector<std::string>& stops) {
  for (const std::string& stop : stops) {
    text = text.substr(0, text.find(stop));
  }
  return text;
}

int32_t count_prompt(const Request& request) {
  std::size_t bytes = request.prompt.size() + request.prompt_ids.size();
  for (const Message& message : request.messages) {
    bytes += message.role.size() + message.content.size();
  }
  return static_cast<int32_t>(bytes) + 1;
}

void play(const Request& request, const Script& script, Event event, const EventCallback& on_event,
          RequestHandle::State& state) {
  event.kind = Event::Kind::started;
  on_event(event);
  event.kind = Event::Kind::finished;
  for (const std::string& piece : code_points(cut_at_stop(script.text, request.stop))) {
    if (state.cancelled) {
      event.reason = FinishReason::cancelled;
      break;
    }
    if (request.tokens_max > 0 && event.usage.completion_tokens == request.tokens_max) {
      event.reason = FinishReason::length;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(script.delay_ms));
    on_event(token_event(piece, request));
    ++event.usage.completion_tokens;
  }
  if (script.fails) {
    event.reason = FinishReason::error;
    event.error = Error(ErrorCode::internal, "[fake] found 'fail', expected anything else");
  }
  event.timings = {.queued_ms = 0, .prompt_ms = 10, .decode_ms = 20};
  on_event(event);
  const std::lock_guard lock(state.mutex);
  state.finished = true;
  state.changed.notify_all();
}

void refuse_broken(const std::filesystem::path& model) {
  if (model.filename().string().find("broken") != std::string::npos) {
    throw Error(ErrorCode::bad_checkpoint, "[gguf] magic: found 'abcd',\nexpected 'GGUF'");
  }
}

// A file "heavy..." takes 1.5 s, one "endless..." a minute.
void pretend_to_load(const std::string& file, const std::function<void(double)>& progress) {
  constexpr int kSteps = 100;
  const bool endless = file.starts_with("endless");
  if (!progress || !(endless || file.starts_with("heavy"))) {
    return;
  }
  for (int i = 1; i <= kSteps; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(endless ? 600 : 15));
    progress(static_cast<double>(i) / kSteps);
  }
}

std::vector<TokenId> ids_of(std::string_view text, bool parse_special) {
  if (parse_special && text == "<s>") {
    return {1};
  }
  std::vector<TokenId> ids;
  for (const char c : text) {
    ids.push_back(static_cast<unsigned char>(c));
  }
  return ids;
}

std::string text_of(TokenId id) { return id == 1 ? "<s>" : std::string(1, static_cast<char>(id)); }

}  // namespace

const char* name(FinishReason reason) {
  constexpr const char* kNames[] = {"stop", "length", "cancelled", "error"};
  return kNames[static_cast<int>(reason)];
}

std::string mlx_version() { return "fake"; }
std::vector<std::string> instruction_sets() { return {"avx2", "generic"}; }

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

std::unique_ptr<Engine> Engine::load(const std::filesystem::path& model,
                                     const LoadOptions& options) {
  const std::string file = model.filename();
  refuse_broken(model);
  pretend_to_load(file, options.load_progress);
  auto impl = std::make_unique<Impl>();
  ModelInfo& info = impl->info;
  info.name = file;
  info.architecture = "fake";
  info.parameters = 1000;
  info.file_bytes = 100;
  info.resident_bytes = 4000;
  info.vocab_size = 65536;
  info.context_trained = 4096;
  info.context = options.context > 0 ? options.context : 4096;
  info.has_chat_template = file.find("base") == std::string::npos || !options.chat_template.empty();
  info.exact = true;
  info.numerics = "fast";
  info.instruction_set = options.isa.empty() ? "avx2" : options.isa;
  info.threads = options.threads > 0 ? options.threads : 2;
  info.load_ms = 1.5;
  impl->chat_template = options.chat_template;
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

const ModelInfo& Engine::info() const { return impl_->info; }
const SamplingOptions& Engine::sampling_defaults() const { return impl_->defaults; }

struct Tokenizer::Impl {};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

std::unique_ptr<Tokenizer> Tokenizer::load(const std::filesystem::path& model, const std::string&) {
  refuse_broken(model);
  return std::unique_ptr<Tokenizer>(new Tokenizer(nullptr));
}

std::vector<TokenId> Tokenizer::tokenize(std::string_view text, bool parse_special) const {
  return ids_of(text, parse_special);
}
std::vector<TokenId> Engine::tokenize(std::string_view text, bool parse_special) const {
  return ids_of(text, parse_special);
}

std::string Tokenizer::detokenize(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) {
    text += text_of(id);
  }
  return text;
}

std::string Tokenizer::token_text(TokenId id) const { return text_of(id); }
std::string Engine::token_text(TokenId id) const { return text_of(id); }

std::string Engine::apply_template(std::span<const Message> messages, std::string_view) const {
  std::string text;
  for (const Message& message : messages) {
    text += message.role + ": " + message.content + "\n";
  }
  return text;
}

RequestHandle Engine::submit(Request request, EventCallback on_event) {
  const int32_t tokens = count_prompt(request);
  if (tokens >= impl_->info.context) {
    throw Error(ErrorCode::context_overflow,
                fmt::format("[prompt] found {} tokens, expected fewer than the context of {}",
                            tokens, impl_->info.context));
  }
  auto state = std::make_shared<RequestHandle::State>();
  Event first;
  first.usage.prompt_tokens = tokens;
  first.usage.seed = request.sampling.seed.value_or(42);
  Script script = answer_to(request, *impl_);
  impl_->threads.emplace_back(
      [=, request = std::move(request), script = std::move(script),
       on_event = std::move(on_event)] { play(request, script, first, on_event, *state); });
  return RequestHandle(state);
}

void Engine::generate(Request request, EventCallback on_event) {
  submit(std::move(request), std::move(on_event)).wait();
}

ModelReport inspect(const std::filesystem::path& model) {
  const std::string file = model.filename();
  ModelReport report;
  report.name = file;
  report.format = "gguf";
  report.files = 1;
  report.architecture = "fake";
  report.supported = file.find("unknown") == std::string::npos;
  report.nearest_architecture = "fake";
  report.parameters = 134515008;
  report.file_bytes = 98362432;
  report.tensor_bytes = 96000000;
  report.types = {{"Q4_1", 210, 106168320, 66355200}, {"F32", 61, 35136, 140544}};
  report.vocab_size = 49152;
  report.context_trained = 8192;
  report.has_chat_template = file.find("base") == std::string::npos;
  report.tokenizer = "gpt2 (pre fake)";
  report.end_tokens = {{2, "<|im_end|>"}};
  if (!report.supported) {
    report.missing = {"blk.0.attn_q.weight"};
    report.mis_shaped = {"output.weight: found [3, 4], expected [4, 3]"};
  }
  return report;
}

}  // namespace paceline
