#include "state/page_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace paceline::state {
namespace {

constexpr int64_t kAlignment = 64;  // one cache line, one 512-bit vector
/// One huge page: with small ones attention spends a third of its time on address translation.
constexpr int64_t kSlabBytes = int64_t{2} << 20;

int64_t round_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Page::Page(Page&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), data_(std::exchange(other.data_, nullptr)) {}

Page& Page::operator=(Page&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  return *this;
}

Page::~Page() {
  if (pool_ == nullptr) return;
  pool_->free_.push_back(data_);  // never reallocates: add_slab reserved room for every page
  --pool_->in_use_;
}

std::byte* Page::values() const { return data_ + pool_->key_bytes_; }

void PagePool::Free::operator()(std::byte* memory) const { std::free(memory); }

PagePool::PagePool(int64_t key_bytes, int64_t value_bytes)
    : key_bytes_(round_up(key_bytes, kAlignment)),
      page_bytes_(key_bytes_ + round_up(value_bytes, kAlignment)),
      slab_pages_(std::max<int64_t>(1, kSlabBytes / page_bytes_)) {}

PagePool::~PagePool() = default;

void PagePool::add_slab() {
  const auto bytes = static_cast<size_t>(round_up(slab_pages_ * page_bytes_, kSlabBytes));
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kSlabBytes, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  slabs_.emplace_back(memory);
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: small pages serve as well
  std::memset(memory, 0, bytes);
  free_.reserve(slabs_.size() * static_cast<size_t>(slab_pages_));
  for (int64_t i = slab_pages_ - 1; i >= 0; --i) free_.push_back(memory + i * page_bytes_);
}

Page PagePool::take() {
  if (free_.empty()) add_slab();
  std::byte* data = free_.back();
  free_.pop_back();
  ++in_use_;
  return Page(this, data);
}

}  // namespace paceline::state
