#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/rope.h"

namespace paceline::kernels {

/// cos and sin of one position: [cos of every pair][sin of every pair], times the magnitude. The
/// one function every rotation comes from: the f32 product position * frequency, its cos and sin in
/// double, rounded once.
void rope_angles(const RopeSpec& spec, int32_t position, float* cos_sin);

/// Computed angles by spec and position, so that the layers of a forward (and later forwards) share
/// them. A cache only: what it returns is what rope_angles gives. Thread safe; bounded
/// (kChunksMax), emptied when full.
class RopeCache {
 public:
  static constexpr int32_t kChunk = 64;            ///< positions per entry
  static constexpr std::size_t kChunksMax = 2048;  ///< 128 k positions; 64 MB at 64 pairs

  /// One pointer per position, valid while the returned object lives.
  struct Rows {
    std::vector<const float*> rows;
    std::vector<std::shared_ptr<const std::vector<float>>> chunks;
  };
  Rows rows(const RopeSpecPtr& spec, const int32_t* positions, int64_t count);

 private:
  using Key = std::pair<RopeSpecPtr, int32_t>;
  std::shared_ptr<const std::vector<float>> chunk(const RopeSpecPtr& spec, int32_t index);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const std::vector<float>>> chunks_;  // guarded by mutex_
};

}  // namespace paceline::kernels
