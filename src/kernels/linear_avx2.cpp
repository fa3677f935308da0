#include "kernels/linear_inl.h"
#include "kernels/vec_avx2.h"

namespace paceline::kernels {

const LinearTable& linear_table_avx2() { return LinearKernel<VecAvx2>::table(); }

}  // namespace paceline::kernels
