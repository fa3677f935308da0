#include "kernels/weight_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace paceline::kernels {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr int64_t kBlock = int64_t{64} << 20;  // pages that nobody touches cost nothing

}  // namespace

AlignedBytes::AlignedBytes(int64_t bytes) : size_(std::max<int64_t>(bytes, 1)) {
  const auto wanted = static_cast<std::size_t>(size_);
  const std::size_t alignment = wanted >= kHugePage ? kHugePage : 64;
  const std::size_t rounded = (wanted + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<uint8_t*>(std::aligned_alloc(alignment, rounded)));
  if (!data_) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(data_.get(), rounded, MADV_HUGEPAGE);
}

void AlignedBytes::Free::operator()(uint8_t* p) const { std::free(p); }

std::shared_ptr<uint8_t> WeightArena::take(int64_t bytes) {
  const int64_t size = (bytes + 63) / 64 * 64;
  if (!block_ || used_ + size > block_->size()) {
    block_ = std::make_shared<const AlignedBytes>(std::max(kBlock, size));
    used_ = 0;
  }
  uint8_t* const at = block_->data() + used_;
  used_ += size;
  return {block_, at};
}

}  // namespace paceline::kernels
