#pragma once

#include <cstddef>
#include <cstdint>

namespace paceline::blocks {

/// Bytes and values never overlap; saying so lets the compiler vectorise.
using Bytes = const uint8_t* __restrict;
using Floats = float* __restrict;

/// Decodes whole blocks that lie one after another.
using DecodeBlocks = void (*)(Bytes in, int64_t blocks, Floats out);

/// A block format: fixed sizes and one function. decode() is always_inline, so it is compiled once
/// per variant below; without contraction and reassociation every variant gives the same bits.
template <class B>
concept BlockFormat = requires(const uint8_t* in, float* out) {
  B::decode(in, out);
  B::kBytes* B::kValues;
};

template <BlockFormat B>
[[gnu::always_inline]] inline void decode_each(Bytes in, int64_t blocks, Floats out) {
  for (int64_t i = 0; i < blocks; ++i) B::decode(in + i * B::kBytes, out + i * B::kValues);
}

template <BlockFormat B>
void decode_baseline(Bytes in, int64_t blocks, Floats out) {
  decode_each<B>(in, blocks, out);
}

#if defined(__x86_64__)
template <BlockFormat B>
[[gnu::target("arch=x86-64-v3")]] void decode_avx2(Bytes in, int64_t blocks, Floats out) {
  decode_each<B>(in, blocks, out);
}
inline bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
#endif

/// The fastest variant for this machine. Chosen at run time: ifuncs (target_clones) crash under
/// TSan.
template <BlockFormat B>
DecodeBlocks block_decoder() {
#if defined(__x86_64__)
  if (has_avx2()) return decode_avx2<B>;
#endif
  return decode_baseline<B>;
}

}  // namespace paceline::blocks
