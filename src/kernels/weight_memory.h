#pragma once

#include <cstdint>
#include <memory>

namespace paceline::kernels {

/// Uninitialised memory on a 64-byte border, on huge pages where the system grants them.
class AlignedBytes {
 public:
  explicit AlignedBytes(int64_t bytes);
  uint8_t* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* p) const;
  };
  std::unique_ptr<uint8_t, Free> data_;
  int64_t size_;
};

/// Memory for the weights of one model: large blocks on huge pages, cut in the order of loading. So
/// small matrices share huge pages, and what is read ahead behind the end of one matrix is the
/// start of the next. Not thread safe.
class WeightArena {
 public:
  /// A part on a 64-byte border; it keeps its block alive. Throws std::bad_alloc.
  std::shared_ptr<uint8_t> take(int64_t bytes);

 private:
  std::shared_ptr<const AlignedBytes> block_;
  int64_t used_ = 0;
};

}  // namespace paceline::kernels
