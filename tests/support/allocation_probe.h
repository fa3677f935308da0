#pragma once

#include <cstddef>

namespace paceline::support {

/// Counts the bytes this thread asks for during its life (linking the .cpp replaces operator new).
class AllocationProbe {
 public:
  AllocationProbe();
  std::size_t bytes() const;
};

}  // namespace paceline::support
