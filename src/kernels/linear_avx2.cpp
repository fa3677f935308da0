#include "kernels/linear_inl.h"
#include "kernels/packed/dot_avx2.h"

namespace paceline::kernels {

const LinearTable& linear_table_avx2() { return LinearKernel<packed::DotAvx2>::table(); }

}  // namespace paceline::kernels
