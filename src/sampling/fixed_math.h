#pragma once

#include <bit>
#include <cstdint>

namespace paceline::sampling {

// log and exp made of IEEE additions, multiplications and divisions only (built with
// -ffp-contract=off), so that a draw has the same bits whatever the C library or the compiler.
// docs/sampling.md states the error bounds.

/// 2 atanh(s) = ln((1 + s) / (1 - s)) for |s| <= 0.1716.
inline double log_ratio(double s) {
  const double z = s * s;
  double p = 1.0 / 25.0;
#pragma GCC unroll 12  // 1.0 / k are constants then
  for (int k = 23; k >= 1; k -= 2) p = p * z + 1.0 / k;
  return 2.0 * s * p;
}

/// ln(x) of a positive normal number; absolute error below 2^-51 + 2^-52 |ln x|.
inline double log_fixed(double x) {
  constexpr double kLn2High = 0x1.62e42fefa38p-1;  // 42 bits: exact times any exponent
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
  const auto bits = std::bit_cast<uint64_t>(x);
  auto exponent = static_cast<int32_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > kSqrt2) {
    m *= 0.5;
    ++exponent;
  }
  const double e = exponent;
  return e * kLn2High + (e * kLn2Low + log_ratio((m - 1.0) / (m + 1.0)));
}

constexpr float kExpFloor = -87.0F;

/// The parts of exp: n = round(x log2 e), r = x - n ln 2, then 1 + r + r^2 P(r) times 2^n.
constexpr float kExpLog2E = 1.44269504F;
/// Adding it rounds to an integer, which is then in the low bits.
constexpr float kExpRound = 0x1.8p23F;
constexpr float kExpLn2High = 0.693359375F;
constexpr float kExpLn2Low = -2.12194440e-4F;
/// P, highest power first: minimax coefficients of Cephes' expf.
constexpr float kExpPowers[] = {1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F,
                                4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F};

/// exp(x) for kExpFloor <= x <= 0; relative error below 2^-23. Branch-free, so loops over it
/// vectorise. BlockOps::sum has the same steps for several vectors side by side.
inline float exp_in_range(float x) {
  const float shifted = x * kExpLog2E + kExpRound;
  const float n = shifted - kExpRound;
  const float r = (x - n * kExpLn2High) - n * kExpLn2Low;
  float p = kExpPowers[0];
  for (int i = 1; i < 6; ++i) p = p * r + kExpPowers[i];
  p = (p * r) * r + r + 1.0F;
  // What stands above n in `shifted` leaves in the shift.
  const uint32_t scale = std::bit_cast<uint32_t>(shifted) << 23;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + scale);
}

/// exp(x) for any x <= 0; below kExpFloor that of kExpFloor.
inline float exp_fixed(float x) { return exp_in_range(x < kExpFloor ? kExpFloor : x); }

/// A value in [0, 1] as an integer count of 2^-40, so that sums are exact in any order.
inline uint64_t to_fixed(float value) {
  constexpr double kShift =
      0x1p52;  // the low mantissa bits of kShift + w are w rounded to an integer
  const double shifted = static_cast<double>(value) * 0x1p40 + kShift;
  return std::bit_cast<uint64_t>(shifted) & 0x000fffffffffffffULL;
}

/// exp(x) for x <= 0 in units of 2^-40. Zero below about -28.4.
inline uint64_t weight_fixed(float x) { return to_fixed(exp_fixed(x)); }

/// Every x below this has weight_fixed(x) == 0.
constexpr float kWeightFloor = -29.0F;

}  // namespace paceline::sampling
