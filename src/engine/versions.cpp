#include <mlx/version.h>

#include "kernels/context.h"
#include "paceline/version.h"

namespace paceline {

std::string mlx_version() { return mlx::core::version(); }

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const auto isa : {kernels::Isa::avx512, kernels::Isa::avx2, kernels::Isa::generic}) {
    if (isa <= kernels::detect_isa()) names.emplace_back(kernels::name(isa));
  }
  return names;
}

}  // namespace paceline
