#include "kernels/linear_inl.h"
#include "kernels/vec_generic.h"

namespace paceline::kernels {

const LinearTable& linear_table_generic() { return LinearKernel<VecGeneric>::table(); }

}  // namespace paceline::kernels
