#include "kernels/linear_inl.h"
#include "kernels/packed/dot_generic.h"

namespace paceline::kernels {

const LinearTable& linear_table_generic() { return LinearKernel<packed::DotGeneric>::table(); }

}  // namespace paceline::kernels
