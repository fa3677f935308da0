#include "kernels/linear_inl.h"
#include "kernels/packed/bytes_avx512.h"

namespace paceline::kernels {

const LinearTable& linear_table_avx512() { return LinearKernel<packed::BytesAvx512>::table(); }

}  // namespace paceline::kernels
