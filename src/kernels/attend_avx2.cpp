#include "kernels/attend_inl.h"
#include "kernels/vec_avx2.h"

namespace paceline::kernels {

const AttendTable& attend_table_avx2() { return AttendKernel<VecAvx2>::table(); }

}  // namespace paceline::kernels
