#include "kernels/linear_inl.h"
#include "kernels/vec_avx512.h"

namespace paceline::kernels {

const LinearTable& linear_table_avx512() { return LinearKernel<VecAvx512>::table(); }

}  // namespace paceline::kernels
