#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/error.h"
#include "paceline/export.h"
#include "paceline/model_info.h"
#include "paceline/request.h"
#include "paceline/sampling.h"

namespace paceline {

enum class Ops {
  automatic,
  portable
};  ///< portable: plain MLX operations everywhere (slow; the specification)
enum class KvType { bf16, f32, f16 };  ///< f16: exact to 2^-11, but only up to 65504
/// How matrix products treat activations: fast rounds them to 8 bits in groups of 32 where weights
/// are stored as integer codes; exact multiplies f32. Either way answers are reproducible bit for
/// bit; the two differ from each other by the rounding.
enum class Numerics { fast, exact };

struct LoadOptions {
  int32_t context = 0;  ///< tokens; 0 = min(the model's own, 8192)
  int32_t threads = 0;  ///< 0 = one per physical core
  Ops ops = Ops::automatic;
  Numerics numerics = Numerics::fast;
  KvType kv_type = KvType::bf16;
  std::string isa;            ///< "", "avx512", "avx2", "generic"
  std::string pre_override;   ///< pre-tokenizer of a GGUF vocabulary
  std::string chat_template;  ///< Jinja source that replaces the model's own
  /// Called on the loading thread with the fraction of the weights' bytes done; must return soon
  /// and not throw.
  std::function<void(double)> load_progress{};
};

/// Handle of a running request. Thread safe; may outlive its request but not the Engine.
class PACELINE_EXPORT RequestHandle {
 public:
  RequestHandle() = default;
  /// Asks the request to end; takes effect within one step, and `finished` with reason cancelled
  /// follows.
  void cancel() const;
  /// Blocks until the `finished` event has been delivered.
  void wait() const;

  struct State;
  explicit RequestHandle(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

struct StepPlan;  // paceline/bench.h
struct StepTimes;

/// A loaded model and the one thread that runs it. All methods may be called from any thread.
class PACELINE_EXPORT Engine {
 public:
  /// `model` is a .gguf file, a .safetensors file or a folder. Throws Error with the codes of
  /// formats, text and models.
  static std::unique_ptr<Engine> load(const std::filesystem::path& model,
                                      const LoadOptions& options = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const ModelInfo& info() const;
  /// Sampling defaults of the model (generation_config.json), else SamplingOptions{}.
  const SamplingOptions& sampling_defaults() const;

  /// Ids of text without BOS; `parse_special` turns control-token literals into control tokens.
  std::vector<TokenId> tokenize(std::string_view text, bool parse_special) const;
  std::string detokenize(std::span<const TokenId> ids) const;
  /// The literal or bytes of one id.
  std::string token_text(TokenId id) const;
  /// The prompt that `messages` become. Throws Error{template_error} also when the model has no
  /// template.
  std::string apply_template(std::span<const Message> messages,
                             std::string_view variables_json = {}) const;

  /// Validates and queues the request (Error{invalid_argument, context_overflow, template_error}
  /// from here). Events arrive on the engine's thread. At most 64 requests wait; one more is
  /// Error{out_of_memory}.
  RequestHandle submit(Request request, EventCallback on_event);
  /// submit() and wait.
  void generate(Request request, EventCallback on_event);

  struct Impl;

 private:
  friend std::vector<StepTimes> measure_steps(Engine& engine, const StepPlan& plan);
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline
