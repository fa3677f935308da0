#include "state/page_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace paceline::state {
namespace {

constexpr int64_t kAlignment = 64;  // one cache line, one 512-bit vector
constexpr int64_t kSlabBytes = int64_t{1}
                               << 20;  // small models should not pay for pages they never touch

int64_t round_up(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

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
    : key_bytes_(round_up(key_bytes)),
      page_bytes_(key_bytes_ + round_up(value_bytes)),
      slab_pages_(std::max<int64_t>(1, kSlabBytes / page_bytes_)) {}

PagePool::~PagePool() = default;

void PagePool::add_slab() {
  const auto bytes = static_cast<size_t>(slab_pages_ * page_bytes_);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  slabs_.emplace_back(memory);
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
