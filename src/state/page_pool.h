#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace paceline::state {

class PagePool;

/// One page of a layer: keys, then values. Owned by one page table; goes back to its pool when
/// destroyed.
class Page {
 public:
  Page(Page&& other) noexcept;
  Page& operator=(Page&& other) noexcept;
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page();

  std::byte* keys() const { return data_; }
  std::byte* values() const;

 private:
  friend class PagePool;
  Page(PagePool* pool, std::byte* data) : pool_(pool), data_(data) {}
  PagePool* pool_;
  std::byte* data_;
};

/// Pages of one size. Memory is taken in slabs, on huge pages where the system grants them, zeroed
/// once and kept until the pool goes. Not thread safe.
class PagePool {
 public:
  /// Bytes of the keys and of the values of one page.
  PagePool(int64_t key_bytes, int64_t value_bytes);
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  /// Throws std::bad_alloc when the system has no memory left.
  Page take();
  int64_t page_bytes() const { return page_bytes_; }
  int64_t pages_in_use() const { return in_use_; }
  int64_t bytes_allocated() const {
    return static_cast<int64_t>(slabs_.size()) * slab_pages_ * page_bytes_;
  }

 private:
  friend class Page;
  void add_slab();

  struct Free {
    void operator()(std::byte* memory) const;
  };
  int64_t key_bytes_;
  int64_t page_bytes_;
  int64_t slab_pages_;
  int64_t in_use_ = 0;
  std::vector<std::unique_ptr<std::byte, Free>> slabs_;
  std::vector<std::byte*> free_;
};

}  // namespace paceline::state
