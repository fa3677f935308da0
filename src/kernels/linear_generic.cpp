#include "kernels/linear_inl.h"
#include "kernels/packed/bytes_generic.h"

namespace paceline::kernels {

const LinearTable& linear_table_generic() { return LinearKernel<packed::BytesGeneric>::table(); }

}  // namespace paceline::kernels
