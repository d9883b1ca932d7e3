// kernels/special/igamma_prefactor.h - prefactors of incomplete gamma and beta functions, without
// cancellation in their exponents.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "kernels/special/math.h"
#include "kernels/special/series.h"

namespace shardax::kernels {

inline double polynomial(std::span<const double> c, double x) {
  double sum = 0;
  for (size_t i = c.size(); i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// log(1 + m) - m for m = (x - mean) / mean.
inline double log_ratio_less(double x, double mean, double m) {
  if (std::abs(m) > 0.35) return std::log(x / mean) - m;
  // With s = m / (2 + m): log(1 + m) = 2 (s + s^3/3 + ...), and m - 2 s = m s.
  const double s = m / (2 + m), square = s * s;
  double sum = 0;
  for (int i = 27; i > 1; i -= 2) sum = (sum + 1.0 / i) * square;
  return s * (2 * sum - m);
}

// log(gamma(a) / (sqrt(2 pi / a) (a / e)^a)) for a >= 8.
inline double stirling_rest(double a) {
  const double w = 1 / a;
  return w * polynomial(std::array{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                                   -691.0 / 360360, 1.0 / 156},
                        w * w);
}

// x^a e^-x / gamma(a)
inline double gamma_scale(double a, double x) {
  if (a < 8) return std::exp(a * std::log(x) - x - simd::lgamma(a));
  const double root = std::sqrt(a / (2 * std::numbers::pi));
  return root * std::exp(a * log_ratio_less(x, a, (x - a) / a) - stirling_rest(a));
}

// x^a y^b gamma(a + b) / (gamma(a) gamma(b)) for y = 1 - x.
inline double beta_scale(double a, double b, double x, double y) {
  const double total = a + b, small = std::min(a, b), large = std::max(a, b);
  if (large < 8) {
    const double norm = simd::lgamma(total) - simd::lgamma(a) - simd::lgamma(b);
    return std::exp(norm + a * std::log(x) + b * std::log(y));
  }
  const double rest = stirling_rest(total) - stirling_rest(large);
  if (small < 8) {
    const double near = a < b ? x : y, far = a < b ? y : x;
    const double far_log = a < b ? std::log1p(-near) : std::log(far);
    return std::exp(small * std::log(near * total) - simd::lgamma(small) +
                    (large * far_log + large * std::log1p(small / large) - small) -
                    0.5 * std::log1p(small / large) + rest);
  }
  const double excess = x * b - a * y;  // of x * total over a
  const double exponent =
      a * log_ratio_less(x * total, a, excess / a) + b * log_ratio_less(y * total, b, -excess / b);
  const double root = std::sqrt(a / total * b / (2 * std::numbers::pi));
  return root * std::exp(exponent + rest - stirling_rest(small));
}

}  // namespace shardax::kernels
