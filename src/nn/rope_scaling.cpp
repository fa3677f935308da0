#include "nn/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/assert.h"
#include "paceline/error.h"

namespace paceline::nn {
namespace {

constexpr double kTwoPi = 2.0 * std::numbers::pi;

/// Long wavelengths are stretched by `factor`, short ones kept, those between interpolated.
double banded_period(const RopeConfig& c, double period) {
  const double wavelength = kTwoPi * period;
  if (wavelength > c.original_context / c.low_freq_factor) return period * c.factor;
  if (wavelength < c.original_context / c.high_freq_factor) return period;
  const double smooth = (c.original_context / wavelength - c.low_freq_factor) /
                        (c.high_freq_factor - c.low_freq_factor);
  return period / ((1.0 - smooth) / c.factor + smooth);
}

double yarn_correction(const RopeConfig& c, double rotations) {
  return c.dims * std::log(c.original_context / (rotations * kTwoPi)) / (2.0 * std::log(c.base));
}

/// Arithmetic of YaRN (arXiv 2309.00071): a ramp over the pairs mixes kept and stretched
/// frequencies.
double yarn_period(const RopeConfig& c, int32_t pair, double period) {
  const double low = std::max(std::floor(yarn_correction(c, c.beta_fast)), 0.0);
  double high = std::min(std::ceil(yarn_correction(c, c.beta_slow)), c.dims - 1.0);
  if (high == low) high += 0.001;
  const double keep = 1.0 - std::clamp((pair - low) / (high - low), 0.0, 1.0);
  const double stretched = c.factor * period;
  return stretched * period / (stretched * keep + period * (1.0 - keep));
}

double yarn_magnitude(const RopeConfig& c) {
  const auto growth = [&](double mscale) {
    return c.factor > 1.0 ? 0.1 * mscale * std::log(c.factor) + 1.0 : 1.0;
  };
  return growth(c.mscale) / growth(c.mscale_all_dim);
}

double period_of(const RopeConfig& c, int32_t pair) {
  const double period = std::pow(c.base, 2.0 * pair / c.dims);
  switch (c.kind) {
    case RopeKind::plain:
      return period;
    case RopeKind::linear:
      return period * c.factor;
    case RopeKind::banded:
      return banded_period(c, period);
    case RopeKind::yarn:
      return yarn_period(c, pair, period);
  }
  return period;
}

double magnitude_of(const RopeConfig& c) {
  if (c.attention_factor) return *c.attention_factor;
  return c.kind == RopeKind::yarn ? yarn_magnitude(c) : 1.0;
}

}  // namespace

kernels::RopeSpecPtr make_rope(const RopeConfig& config) {
  PACELINE_ASSERT(config.dims > 0 && config.dims % 2 == 0);
  const int32_t pairs = config.dims / 2;
  PACELINE_ASSERT(config.divisors.empty() || config.divisors.size() == static_cast<size_t>(pairs));
  auto spec = std::make_shared<kernels::RopeSpec>();
  for (int32_t i = 0; i < pairs; ++i) {
    const double divisor = config.divisors.empty() ? 1.0 : config.divisors[static_cast<size_t>(i)];
    const double frequency = 1.0 / (period_of(config, i) * divisor);
    if (!std::isfinite(frequency)) {
      throw Error(ErrorCode::bad_checkpoint,
                  "[rope] frequency " + std::to_string(i) + " is " + std::to_string(frequency) +
                      ", expected a finite one: base " + std::to_string(config.base) + ", factor " +
                      std::to_string(config.factor));
    }
    spec->inverse_frequencies.push_back(static_cast<float>(frequency));
  }
  spec->magnitude = static_cast<float>(magnitude_of(config));
  return spec;
}

}  // namespace paceline::nn
