#include "kernels/attend_inl.h"
#include "kernels/vec_generic.h"

namespace paceline::kernels {

const AttendTable& attend_table_generic() { return AttendKernel<VecGeneric>::table(); }

}  // namespace paceline::kernels
