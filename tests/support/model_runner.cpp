#include "support/model_runner.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <numeric>
#include <utility>

namespace paceline::testing {

namespace mx = mlx::core;

ModelRunner::ModelRunner(const std::filesystem::path& model, const RunnerOptions& options)
    : checkpoint_(formats::open_checkpoint(model)),
      context_(kernels::make_context(options.threads, kernels::parse_isa(options.isa),
                                     options.portable, options.numerics)),
      model_(models::load_model(checkpoint_, {.context = context_, .taps = options.taps})) {
  const state::StoreOptions store{
      .encoding = options.kv, .page_tokens = options.page_tokens, .bytes_max = 0};
  store_ = std::make_unique<state::StateStore>(model_->state_spec(), store, context_);
}

state::Batch ModelRunner::batch_of(const std::vector<Row>& rows) {
  std::vector<state::BatchRow> batch_rows;
  for (const Row& row : rows) {
    std::vector<int32_t> wanted(row.tokens.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    batch_rows.push_back({.sequence = row.sequence, .tokens = row.tokens, .wanted = wanted});
  }
  return state::Batch(std::move(batch_rows));
}

ModelRunner::Graph ModelRunner::build(const state::Batch& batch) {
  store_->reserve(batch);
  models::ForwardResult result = model_->forward(batch, *store_);
  mx::array logits = model_->unembed(result.hidden);
  return {
      .result = std::move(result), .logits = std::move(logits), .effects = store_->take_effects()};
}

std::vector<float> ModelRunner::forward(const std::vector<Row>& rows) {
  const state::Batch batch = batch_of(rows);
  Graph graph = build(batch);
  graph.effects.push_back(graph.logits);
  mx::eval(graph.effects);
  std::vector<int32_t> keep;
  for (const Row& row : rows) keep.push_back(static_cast<int32_t>(row.tokens.size()));
  store_->commit(batch, keep);
  const float* data = graph.logits.data<float>();
  return {data, data + graph.logits.size()};
}

}  // namespace paceline::testing
