#include "support/allocation_probe.h"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t asked_for = 0;
}  // namespace

void* operator new(std::size_t size) {
  asked_for += size;
  if (void* at = std::malloc(size > 0 ? size : 1)) return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

namespace paceline::support {

AllocationProbe::AllocationProbe() { asked_for = 0; }
std::size_t AllocationProbe::bytes() const { return asked_for; }

}  // namespace paceline::support
