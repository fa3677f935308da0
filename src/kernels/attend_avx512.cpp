#include "kernels/attend_inl.h"
#include "kernels/vec_avx512.h"

namespace paceline::kernels {

const AttendTable& attend_table_avx512() { return AttendKernel<VecAvx512>::table(); }

}  // namespace paceline::kernels
