#pragma once

#include "kernels/context.h"
#include "paceline/bench.h"

namespace paceline::engine {

/// One measurement over all threads of the context, about 20 ms. The AVX-512 and AVX2 loops are
/// those of the instructions that the kernels use; the generic one multiplies and adds floats as
/// the compiler likes to.
ArithmeticPeaks measure_peaks(const kernels::Context& ctx);

}  // namespace paceline::engine
