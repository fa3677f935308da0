#include "kernels/linear_inl.h"
#include "kernels/packed/dot_avx512.h"

namespace paceline::kernels {

const LinearTable& linear_table_avx512() { return LinearKernel<packed::DotAvx512>::table(); }

}  // namespace paceline::kernels
