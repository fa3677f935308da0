#include "support/model_runner.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <numeric>

namespace paceline::testing {

namespace mx = mlx::core;

ModelRunner::ModelRunner(const std::filesystem::path& model, const RunnerOptions& options)
    : checkpoint_(formats::open_checkpoint(model)),
      context_(kernels::make_context(options.threads, kernels::parse_isa(options.isa),
                                     options.portable)),
      model_(models::load_model(checkpoint_, {.context = context_, .taps = {}})) {
  const state::StoreOptions store{
      .encoding = options.kv, .page_tokens = options.page_tokens, .bytes_max = 0};
  store_ = std::make_unique<state::StateStore>(model_->state_spec(), store, context_);
}

std::vector<float> ModelRunner::forward(const std::vector<Row>& rows) {
  std::vector<state::BatchRow> batch_rows;
  std::vector<int32_t> keep;
  for (const Row& row : rows) {
    std::vector<int32_t> wanted(row.tokens.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    batch_rows.push_back({.sequence = row.sequence, .tokens = row.tokens, .wanted = wanted});
    keep.push_back(static_cast<int32_t>(row.tokens.size()));
  }
  const state::Batch batch(std::move(batch_rows));
  store_->reserve(batch);
  const models::ForwardResult result = model_->forward(batch, *store_);
  const mx::array logits = model_->unembed(result.hidden);
  std::vector<mx::array> outputs = store_->take_effects();
  outputs.push_back(logits);
  mx::eval(outputs);
  store_->commit(batch, keep);
  const float* data = logits.data<float>();
  return {data, data + logits.size()};
}

}  // namespace paceline::testing
