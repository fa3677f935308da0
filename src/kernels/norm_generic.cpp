#include "kernels/norm_inl.h"
#include "kernels/vec_generic.h"

namespace paceline::kernels {

const NormTable& norm_table_generic() { return NormKernel<VecGeneric>::table(); }

}  // namespace paceline::kernels
