#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>

/// Of this folder's tests.
namespace paceline::kernels::testing {

/// Memory whose last byte lies before a page that faults.
class GuardedMemory {
 public:
  GuardedMemory(std::size_t bytes, int fill) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t used = (bytes + page - 1) / page * page;
    size_ = used + page;
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(static_cast<std::byte*>(memory_) + used, page, PROT_NONE);
    data_ = static_cast<std::byte*>(memory_) + used - bytes;
    std::memset(data_, fill, bytes);
  }
  ~GuardedMemory() { munmap(memory_, size_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  void* memory_;
  std::size_t size_;
  std::byte* data_;
};

}  // namespace paceline::kernels::testing
