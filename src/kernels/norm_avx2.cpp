#include "kernels/norm_inl.h"
#include "kernels/vec_avx2.h"

namespace paceline::kernels {

const NormTable& norm_table_avx2() { return NormKernel<VecAvx2>::table(); }

}  // namespace paceline::kernels
