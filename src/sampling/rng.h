#pragma once

#include <cstdint>

#include "paceline/sampling.h"
#include "sampling/fixed_math.h"

namespace paceline::sampling {

// The counter random numbers of every draw: a pure function of (seed, absolute position, token id).
// Their bits never change (docs/sampling.md, vectors in rng_test.cpp). `position` is the index, in
// prompt + answer, of the token that is being drawn.

/// The part of the hash that all ids of one position share.
struct DrawKey {
  uint32_t a;
  uint32_t b;
};

/// SplitMix64's finaliser (Stafford's variant 13).
constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

constexpr DrawKey draw_key(uint64_t seed, int64_t position) {
  const uint64_t z = mix64(mix64(seed + kGolden) + static_cast<uint64_t>(position) * kGolden);
  return {static_cast<uint32_t>(z), static_cast<uint32_t>(z >> 32)};
}

/// U is uint32_t or a vector of them. The multipliers and shifts are those of `triple32`.
template <class U>
[[gnu::always_inline]] constexpr U hash_lanes(DrawKey key, U id) {
  U x = id ^ key.a;
  x ^= x >> 17;
  x *= 0xed5ad4bbU;
  x ^= x >> 11;
  x += key.b;
  x *= 0xac4c1b51U;
  x ^= x >> 15;
  x *= 0x31848babU;
  x ^= x >> 14;
  return x;
}

constexpr uint32_t hash32(DrawKey key, uint32_t id) { return hash_lanes(key, id); }

constexpr uint32_t hash32(uint64_t seed, int64_t position, uint32_t id) {
  return hash32(draw_key(seed, position), id);
}

/// Gumbel noise of a hash: -ln(-ln(1 - v)) with v = (hash + 0.5) 2^-32. Falls as the hash rises;
/// the large values come from small v, where 1 - v is never formed.
inline double gumbel_of_hash(uint32_t hash) {
  const double v = (static_cast<double>(hash) + 0.5) * 0x1p-32;
  const double e = v < 0.25 ? log_ratio(v / (2.0 - v)) : -log_fixed(1.0 - v);
  return -log_fixed(e);
}

/// g(seed, p, id) of the design: the draw of a position is argmax over its support of logit / T +
/// gumbel.
inline double gumbel(uint64_t seed, int64_t position, TokenId id) {
  return gumbel_of_hash(hash32(seed, position, static_cast<uint32_t>(id)));
}

/// The seed of choice `index` of a request with several choices: choice 0 is the request itself;
/// the others are below 2^53, so that they survive JSON. A choice equals the single request with
/// its derived seed.
constexpr uint64_t derive(uint64_t seed, uint32_t index) {
  return index == 0 ? seed : mix64(mix64(seed) + index * kGolden) >> 11;
}

}  // namespace paceline::sampling
