#include "kernels/norm_inl.h"
#include "kernels/vec_avx512.h"

namespace paceline::kernels {

const NormTable& norm_table_avx512() { return NormKernel<VecAvx512>::table(); }

}  // namespace paceline::kernels
