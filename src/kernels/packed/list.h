#pragma once

#include <cstddef>
#include <utility>

#include "kernels/packed/floats.h"
#include "kernels/packed/iq4_xs.h"
#include "kernels/packed/k_quants.h"
#include "kernels/packed/legacy.h"
#include "kernels/packed/micro_scales.h"
#include "kernels/packed/mlx_groups.h"

namespace paceline::kernels::packed {

template <class... Formats>
struct List {
  static constexpr int kCount = sizeof...(Formats);
};

/// Formats whose codes are integers. A format has takes(), layout() and pack_unit() for packing;
/// the constants kGroup, kZero, kMins, kCodeMax, kLookup and kTable, and codes(), scale() and min()
/// for reading.
using CodeFormats =
    List<Legacy<SourceQ4_0>, Legacy<SourceQ4_1>, Legacy<SourceQ5_0>, Legacy<SourceQ5_1>,
         Legacy<SourceQ8_0>, Legacy<SourceIq4Nl>, SuperBlocks<SourceQ2_K>, SuperBlocks<SourceQ3_K>,
         SuperBlocks<SourceQ4_K>, SuperBlocks<SourceQ5_K>, SuperBlocks<SourceQ6_K>,
         SuperBlocks<SourceIq4Xs>, MicroScales<SourceMxfp4>, MicroScales<SourceMlxMxfp4>,
         MicroScales<SourceMlxNvfp4>, Affine<2>, Affine<3>, Affine<4>, Affine<5>, Affine<6>,
         Affine<8>>;

/// Formats that are read as floats. The first is read in place.
using FloatFormats = List<Plain<blocks::Encoding::f32, 4>, Plain<blocks::Encoding::f16, 2>,
                          Plain<blocks::Encoding::bf16, 2>, Mxfp8>;

}  // namespace paceline::kernels::packed
