#include "engine/model_executor.h"

#include <mlx/ops.h>
#include <mlx/stream.h>
#include <mlx/transforms.h>

#include <optional>
#include <utility>

#include "array/cpu_primitive.h"
#include "array/runtime.h"
#include "base/assert.h"
#include "engine/bench_bytes.h"
#include "engine/limits.h"
#include "kernels/context.h"
#include "models/model.h"
#include "state/batch.h"
#include "state/store.h"

namespace paceline::engine {
namespace {

namespace mx = mlx::core;

constexpr std::size_t kCacheBytes = std::size_t{512} << 20;  // the activations of one prompt slice

struct ModelSequence final : ExecutorSequence {
  explicit ModelSequence(std::unique_ptr<state::Sequence> s) : state(std::move(s)) {}
  std::unique_ptr<state::Sequence> state;
};

state::Batch make_batch(std::span<const StepRow> rows) {
  std::vector<state::BatchRow> batch_rows;
  batch_rows.reserve(rows.size());
  for (const StepRow& row : rows) {
    state::BatchRow out;
    out.sequence = static_cast<ModelSequence&>(*row.sequence).state.get();
    out.tokens.assign(row.tokens.begin(), row.tokens.end());
    if (row.wants_logits) out.wanted = {static_cast<int32_t>(row.tokens.size()) - 1};
    batch_rows.push_back(std::move(out));
  }
  return state::Batch(std::move(batch_rows));
}

state::Batch make_batch(std::span<const ProbeRow> rows) {
  std::vector<state::BatchRow> batch_rows;
  batch_rows.reserve(rows.size());
  for (const ProbeRow& row : rows) {
    state::BatchRow out;
    out.sequence = static_cast<ModelSequence&>(*row.sequence).state.get();
    out.tokens.assign(row.tokens.begin(), row.tokens.end());
    const auto length = static_cast<int32_t>(row.tokens.size());
    for (int32_t i = length - row.wanted; i < length; ++i) out.wanted.push_back(i);
    batch_rows.push_back(std::move(out));
  }
  return state::Batch(std::move(batch_rows));
}

std::vector<int32_t> keep_all(std::span<const StepRow> rows) {
  std::vector<int32_t> keep;
  keep.reserve(rows.size());
  for (const StepRow& row : rows) keep.push_back(static_cast<int32_t>(row.tokens.size()));
  return keep;
}

// MLX keeps an OS thread per stream until told otherwise.
struct StreamsOfThread {
  StreamsOfThread() = default;
  StreamsOfThread(const StreamsOfThread&) = delete;
  StreamsOfThread& operator=(const StreamsOfThread&) = delete;
  ~StreamsOfThread() { mx::clear_streams(); }
};

class ModelExecutor final : public Executor {
 public:
  ModelExecutor(std::shared_ptr<const formats::Checkpoint> checkpoint,
                std::unique_ptr<models::Model> model, std::unique_ptr<state::StateStore> store,
                bool portable)
      : checkpoint_(std::move(checkpoint)),
        model_(std::move(model)),
        store_(std::move(store)),
        portable_(portable) {}

  std::unique_ptr<ExecutorSequence> new_sequence() override {
    return std::make_unique<ModelSequence>(store_->new_sequence());
  }

  std::vector<std::span<const float>> step(std::span<const StepRow> rows) override {
    const state::Batch batch = make_batch(rows);
    forward(batch);
    store_->commit(batch, keep_all(rows));
    return rows_of_logits(batch.wanted().size());
  }

  std::span<const float> probe(std::span<const ProbeRow> rows) override {
    const state::Batch batch = make_batch(rows);
    forward(batch);
    store_->commit(batch, std::vector<int32_t>(rows.size(), 0));
    if (!logits_) return {};
    return {logits_->data<float>(), logits_->size()};
  }

 private:
  void forward(const state::Batch& batch) {
    logits_.reset();
    store_->reserve(batch);
    try {
      evaluate(batch);
    } catch (...) {
      store_->take_effects();  // writes of a failed forward must not join the next one
      throw;
    }
  }

  void evaluate(const state::Batch& batch) {
    if (!portable_) {
      run_eagerly(batch);
      return;
    }
    const models::ForwardResult result = model_->forward(batch, *store_);
    std::vector<mx::array> outputs = store_->take_effects();
    if (!batch.wanted().empty()) {
      const auto count = static_cast<int>(batch.wanted().size());
      const mx::array wanted(batch.wanted().data(), {count}, mx::int32);
      const mx::array hidden = mx::take(result.hidden, wanted, 0);  // [R, H]
      logits_ = mx::contiguous(model_->unembed(hidden));            // [R, vocab]
      outputs.push_back(*logits_);
    }
    mx::eval(outputs);
  }

  void run_eagerly(const state::Batch& batch) {
    const array::Eager eager;
    const models::ForwardResult result = model_->forward(batch, *store_);
    store_->take_effects();
    if (!batch.wanted().empty())
      logits_ = model_->unembed(array::take_rows(result.hidden, batch.wanted()));  // [R, vocab]
  }

  std::vector<std::span<const float>> rows_of_logits(std::size_t count) const {
    std::vector<std::span<const float>> rows;
    if (count == 0) return rows;
    PACELINE_ASSERT(logits_->size() % count == 0);
    const std::size_t vocab = logits_->size() / count;
    rows.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      rows.emplace_back(logits_->data<float>() + i * vocab, vocab);
    return rows;
  }

  StreamsOfThread streams_;  // first: arrays go before their streams
  std::shared_ptr<const formats::Checkpoint>
      checkpoint_;  // shared with the text side; its mapped bytes outlive the model
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<state::StateStore> store_;
  bool portable_;
  std::optional<mx::array> logits_;
};

kernels::KvEncoding encoding_of(KvType type) {
  switch (type) {
    case KvType::f32:
      return kernels::KvEncoding::f32;
    case KvType::f16:
      return kernels::KvEncoding::f16;
    case KvType::bf16:
      break;
  }
  return kernels::KvEncoding::bf16;
}

}  // namespace

LoadedModel load_model_executor(std::shared_ptr<const formats::Checkpoint> checkpoint,
                                const LoadOptions& options, const Tuning& tuning) {
  const kernels::Context context = kernels::make_context(
      options.threads, kernels::parse_isa(options.isa), options.ops == Ops::portable,
      options.numerics == Numerics::fast ? kernels::Numerics::fast : kernels::Numerics::exact);
  array::set_memory_limits({.memory_bytes = 0, .cache_bytes = kCacheBytes});
  check_weights_fit(*checkpoint, context.portable);
  auto model =
      models::load_model(*checkpoint, {.context = context, .taps = {}}, options.load_progress);
  const state::StoreOptions store_options{
      .encoding = encoding_of(options.kv_type), .page_tokens = tuning.page_tokens, .bytes_max = 0};
  auto store = std::make_unique<state::StateStore>(model->state_spec(), store_options, context);
  for (const auto& file : checkpoint->files)
    file->drop_resident();  // the packed copies serve from here on
  const int32_t tokens = resolve_context(options.context, model->context_trained());
  check_context_fits(tokens, store->bytes_for(tokens));
  ModelFacts facts{
      .vocab_size = model->vocab_size(),
      .context_trained = model->context_trained(),
      .context = tokens,
      .parameters = model->parameters(),
      .resident_bytes = model->resident_bytes(),
      .step_bytes = step_bytes(*checkpoint, model->resident_bytes()),
      .exact = model->exact(),
      .numerics = std::string(kernels::name(context.numerics)),
      .instruction_set = context.portable ? "portable" : std::string(kernels::name(context.isa)),
      .threads = context.pool->size()};
  return {std::make_unique<ModelExecutor>(std::move(checkpoint), std::move(model), std::move(store),
                                          context.portable),
          std::move(facts)};
}

}  // namespace paceline::engine
