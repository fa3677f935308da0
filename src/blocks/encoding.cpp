#include <array>

#include "base/assert.h"
#include "blocks/stored_tensor.h"

namespace paceline::blocks {
namespace {

// In the order of Encoding.
constexpr std::array kTable = {
    EncodingInfo{"F32", 1, 4, true},         EncodingInfo{"F16", 1, 2, true},
    EncodingInfo{"BF16", 1, 2, true},        EncodingInfo{"F64", 1, 8, false},
    EncodingInfo{"I8", 1, 1, false},         EncodingInfo{"I16", 1, 2, false},
    EncodingInfo{"I32", 1, 4, false},        EncodingInfo{"I64", 1, 8, false},
    EncodingInfo{"U8", 1, 1, false},         EncodingInfo{"U16", 1, 2, false},
    EncodingInfo{"U32", 1, 4, false},        EncodingInfo{"U64", 1, 8, false},
    EncodingInfo{"BOOL", 1, 1, false},       EncodingInfo{"F8_E4M3", 1, 1, false},
    EncodingInfo{"F8_E5M2", 1, 1, false},    EncodingInfo{"F8_E8M0", 1, 1, false},
    EncodingInfo{"C64", 1, 8, false},        EncodingInfo{"Q4_0", 32, 18, true},
    EncodingInfo{"Q4_1", 32, 20, true},      EncodingInfo{"Q5_0", 32, 22, true},
    EncodingInfo{"Q5_1", 32, 24, true},      EncodingInfo{"Q8_0", 32, 34, true},
    EncodingInfo{"Q2_K", 256, 84, true},     EncodingInfo{"Q3_K", 256, 110, true},
    EncodingInfo{"Q4_K", 256, 144, true},    EncodingInfo{"Q5_K", 256, 176, true},
    EncodingInfo{"Q6_K", 256, 210, true},    EncodingInfo{"IQ4_NL", 32, 18, true},
    EncodingInfo{"IQ4_XS", 256, 136, true},  EncodingInfo{"MXFP4", 32, 17, true},
    EncodingInfo{"affine", 0, 0, true},      EncodingInfo{"mxfp4", 0, 0, true},
    EncodingInfo{"mxfp8", 0, 0, true},       EncodingInfo{"nvfp4", 0, 0, true},
    EncodingInfo{"Q8_1", 32, 36, false},     EncodingInfo{"Q8_K", 256, 292, false},
    EncodingInfo{"IQ2_XXS", 256, 66, false}, EncodingInfo{"IQ2_XS", 256, 74, false},
    EncodingInfo{"IQ3_XXS", 256, 98, false}, EncodingInfo{"IQ1_S", 256, 50, false},
    EncodingInfo{"IQ1_M", 256, 56, false},   EncodingInfo{"IQ3_S", 256, 110, false},
    EncodingInfo{"IQ2_S", 256, 82, false},   EncodingInfo{"TQ1_0", 256, 54, false},
    EncodingInfo{"TQ2_0", 256, 66, false},   EncodingInfo{"NVFP4", 64, 36, false},
    EncodingInfo{"Q1_0", 128, 18, false},    EncodingInfo{"Q2_0", 64, 18, false},
};
static_assert(kTable.size() == static_cast<std::size_t>(Encoding::q2_0) + 1);
static_assert(kTable[static_cast<std::size_t>(Encoding::q6_k)].block_bytes == 210);
static_assert(kTable[static_cast<std::size_t>(Encoding::gguf_nvfp4)].block_bytes == 36);

}  // namespace

const EncodingInfo& info(Encoding encoding) {
  const auto index = static_cast<std::size_t>(encoding);
  PACELINE_ASSERT(index < kTable.size());
  return kTable[index];
}

bool is_mlx(Encoding encoding) { return encoding >= Encoding::mlx_affine && encoding <= Encoding::mlx_nvfp4; }

}  // namespace paceline::blocks
