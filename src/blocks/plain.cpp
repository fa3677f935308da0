#include "blocks/decoders.h"
#include "blocks/scalar.h"

namespace paceline::blocks {
namespace {

struct F32 {
  static constexpr int kBytes = 4, kValues = 1;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) { *out = load<float>(in); }
};
struct F16 {
  static constexpr int kBytes = 2, kValues = 1;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) { *out = f16_at(in); }
};
struct BF16 {
  static constexpr int kBytes = 2, kValues = 1;
  [[gnu::always_inline]] static void decode(Bytes in, Floats out) { *out = bf16_value(load<uint16_t>(in)); }
};

}  // namespace

DecodeBlocks plain_decoder(Encoding encoding) {
  switch (encoding) {
    case Encoding::f32:
      return block_decoder<F32>();
    case Encoding::f16:
      return block_decoder<F16>();
    case Encoding::bf16:
      return block_decoder<BF16>();
    default:
      return nullptr;
  }
}

}  // namespace paceline::blocks
