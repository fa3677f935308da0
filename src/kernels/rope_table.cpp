#include "kernels/rope_table.h"

#include <cmath>

namespace paceline::kernels {

void rope_angles(const RopeSpec& spec, int32_t position, float* cos_sin) {
  const std::size_t pairs = spec.inverse_frequencies.size();
  for (std::size_t i = 0; i < pairs; ++i) {
    const float angle = static_cast<float>(position) * spec.inverse_frequencies[i];
    cos_sin[i] = static_cast<float>(std::cos(static_cast<double>(angle))) * spec.magnitude;
    cos_sin[pairs + i] = static_cast<float>(std::sin(static_cast<double>(angle))) * spec.magnitude;
  }
}

std::shared_ptr<const std::vector<float>> RopeCache::chunk(const RopeSpecPtr& spec, int32_t index) {
  auto found = chunks_.find({spec, index});
  if (found != chunks_.end()) return found->second;
  if (chunks_.size() >= kChunksMax) chunks_.clear();
  const std::size_t width = spec->inverse_frequencies.size() * 2;
  auto values = std::make_shared<std::vector<float>>(width * kChunk);
  for (int32_t i = 0; i < kChunk; ++i) {
    rope_angles(*spec, index * kChunk + i, values->data() + static_cast<std::size_t>(i) * width);
  }
  chunks_.emplace(Key{spec, index}, values);
  return values;
}

RopeCache::Rows RopeCache::rows(const RopeSpecPtr& spec, const int32_t* positions, int64_t count) {
  const std::lock_guard lock(mutex_);
  const std::size_t width = spec->inverse_frequencies.size() * 2;
  Rows result;
  int32_t current = -1;
  for (int64_t t = 0; t < count; ++t) {
    const int32_t position = positions[t] < 0 ? 0 : positions[t];
    if (position / kChunk != current || t == 0) {
      current = position / kChunk;
      result.chunks.push_back(chunk(spec, current));
    }
    result.rows.push_back(result.chunks.back()->data() +
                          static_cast<std::size_t>(position % kChunk) * width);
  }
  return result;
}

}  // namespace paceline::kernels
