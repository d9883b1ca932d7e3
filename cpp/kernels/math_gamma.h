// kernels/math_gamma.h - the logarithm of the gamma function and its derivative: lgamma digamma.
#pragma once

#include "kernels/math_base.h"
#include "kernels/math_log.h"

// Method: the recurrence moves x in (0, 8) by 8, reflection takes negative x to 1 - x, and above 8
// the asymptotic series holds to double precision (Abramowitz and Stegun 6.1.17, 6.1.41, 6.3.5,
// 6.3.7, 6.3.18). float computes in double.
namespace shardax::simd {

namespace detail {

// sin(pi x) and cos(pi x).
struct SinCos {
  double sin, cos;
};
SHARDAX_SIMD SinCos sin_cos_pi(double x) {
  const double n = __builtin_rint(x);
  const bool odd = __builtin_rint(0.5 * n) != 0.5 * n;
  const double f = x - n;  // in [-1/2, 1/2]
  const double a = abs(f);
  const bool swap = a > 0.25;
  const double r = pi_hi * (swap ? 0.5 - a : a);
  const double z = r * r;
  const double s =
      fma(r * z,
          poly(z, -0.1666666666666663, 0.008333333333321856, -0.00019841269829378488,
               2.7557313547230165e-06, -2.5050735965818947e-08, 1.5895534498837137e-10),
          r);
  const double p = poly(z, 0.041666666666666595, -0.0013888888888873385, 2.4801587289039115e-05,
                        -2.755731422810084e-07, 2.0875706764638767e-09, -1.1358807795414568e-11);
  const double c = fma(z * z, p, fma(-0.5, z, 1.0));
  const double sine = copysign(swap ? c : s, f);
  const double cosine = swap ? s : c;
  return {odd ? -sine : sine, odd ? -cosine : cosine};
}

SHARDAX_SIMD double lgamma(double x) {
  const bool left = x < 0.0;
  const double v = left ? 1.0 - x : x;
  const bool low = v < 8.0;
  const double product =
      v * (v + 1.0) * (v + 2.0) * (v + 3.0) * (v + 4.0) * (v + 5.0) * (v + 6.0) * (v + 7.0);
  const double rise = low ? product : 1.0;
  const double z = low ? v + 8.0 : v;
  const double w = 1.0 / z;
  const double tail = w * poly(w * w, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                               -691.0 / 360360, 1.0 / 156);
  const double half_log_2pi = 0.91893853320467274178;
  const double stirling = fma(z - 0.5, log(z), -z) + (half_log_2pi + tail);
  const double sine = abs(sin_cos_pi(x).sin);
  const double l = log(left ? pi_hi * rise / sine : rise);
  const double y = left ? l - stirling : stirling - l;
  return abs(x) == inf_d ? inf_d : y;
}

SHARDAX_SIMD double digamma(double x) {
  const bool left = x < 0.0;
  const double v = left ? 1.0 - x : x;
  const bool low = v < 8.0;
  // The sum of 1 / (v + i) for i < 8 as one fraction.
  double numerator = 1.0, denominator = v;
  for (int i = 1; i < 8; ++i) {
    const double next = v + static_cast<double>(i);
    numerator = fma(numerator, next, denominator);
    denominator *= next;
  }
  const double sum = low ? numerator / denominator : 0.0;
  const double z = low ? v + 8.0 : v;
  const double w = 1.0 / z;
  const double z2 = w * w;
  const double tail = z2 * poly(z2, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
                                -691.0 / 32760, 1.0 / 12);
  const double y = ((log(z) - 0.5 * w) - tail) - sum;
  const SinCos angle = sin_cos_pi(x);
  const double reflected = y - pi_hi * (angle.cos / angle.sin);
  const bool pole = x <= 0.0 && (angle.sin == 0.0 || x == -inf_d);
  const double result = left ? reflected : (x == inf_d ? x : y);
  return pole ? nan_d : result;
}

}  // namespace detail

// log |gamma(x)|; infinite at 0, -1, -2, ...
SHARDAX_SIMD float lgamma(float x) {
  return static_cast<float>(detail::lgamma(static_cast<double>(x)));
}
// The C library's, one call an element.
inline double lgamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

// The derivative of lgamma; NaN at 0, -1, -2, ... Near its zeros the error is absolute, 1e-15.
SHARDAX_SIMD float digamma(float x) {
  return static_cast<float>(detail::digamma(static_cast<double>(x)));
}
SHARDAX_SIMD double digamma(double x) { return detail::digamma(x); }

}  // namespace shardax::simd
