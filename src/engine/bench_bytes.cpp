#include "engine/bench_bytes.h"

#include "models/weights.h"

namespace paceline::engine {
namespace {

double stored_bytes(const blocks::StoredTensor& tensor) {
  std::size_t bytes = tensor.data.size();
  if (tensor.groups) bytes += tensor.groups->scales.size() + tensor.groups->biases.size();
  return static_cast<double>(bytes);
}

}  // namespace

int64_t step_bytes(const formats::Checkpoint& checkpoint, int64_t resident_bytes) {
  const auto find = [&](const char* name) {
    return checkpoint.find(models::stored_name(checkpoint, name));
  };
  const blocks::StoredTensor* embedding = find("model.embed_tokens.weight");
  if (find("lm_head.weight") == nullptr || embedding == nullptr) return resident_bytes;
  double all = 0;
  for (const auto& [name, tensor] : checkpoint.tensors) all += stored_bytes(tensor);
  const double read = 1 - stored_bytes(*embedding) / all;
  return static_cast<int64_t>(static_cast<double>(resident_bytes) * read);
}

}  // namespace paceline::engine
