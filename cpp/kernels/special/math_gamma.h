// kernels/special/math_gamma.h - log-gamma and its derivative: lgamma digamma.
#pragma once

#include "kernels/special/math_base.h"
#include "kernels/special/math_log.h"

// Method: the recurrence moves x in (0, 8) by 8, reflection takes negative x to 1 - x, and above 8
// the asymptotic series holds to double precision (Abramowitz and Stegun 6.1.17, 6.1.41, 6.3.5,
// 6.3.7, 6.3.18). float computes in double.
namespace shardax::simd {

namespace detail {

// sin(pi x) and cos(pi x).
template <class T>
struct SinCos {
  T sin, cos;
};
template <Wide T>
SHARDAX_SIMD SinCos<T> sin_cos_pi(T x) {
  const T n = rint(x);
  const auto odd = rint(0.5 * n) != 0.5 * n;
  const T f = x - n;  // in [-1/2, 1/2]
  const T a = abs(f);
  const auto swap = a > 0.25;
  const T r = pi_hi * select(swap, 0.5 - a, a);
  const T z = r * r;
  const T s = fma(r * z,
                  poly(z, -0.1666666666666663, 0.008333333333321856, -0.00019841269829378488,
                       2.7557313547230165e-06, -2.5050735965818947e-08, 1.5895534498837137e-10),
                  r);
  const T p = poly(z, 0.041666666666666595, -0.0013888888888873385, 2.4801587289039115e-05,
                   -2.755731422810084e-07, 2.0875706764638767e-09, -1.1358807795414568e-11);
  const T c = fma(z * z, p, fma(T(-0.5), z, T(1.0)));
  const T sine = copysign(select(swap, c, s), f);
  const T cosine = select(swap, s, c);
  return {select(odd, -sine, sine), select(odd, -cosine, cosine)};
}

template <Wide T>
SHARDAX_SIMD T lgamma(T x) {
  const auto left = x < 0.0;
  const T v = select(left, 1.0 - x, x);
  const auto low = v < 8.0;
  const T product =
      v * (v + 1.0) * (v + 2.0) * (v + 3.0) * (v + 4.0) * (v + 5.0) * (v + 6.0) * (v + 7.0);
  const T rise = select(low, product, 1.0);
  const T z = select(low, v + 8.0, v);
  const T w = 1.0 / z;
  const T tail = w * poly(w * w, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                          -691.0 / 360360, 1.0 / 156);
  constexpr double half_log_2pi = 0.91893853320467274178;
  const T stirling = fma(z - 0.5, log(z), -z) + (half_log_2pi + tail);
  const T sine = abs(sin_cos_pi(x).sin);
  const T l = log(select(left, pi_hi * rise / sine, rise));
  const T y = select(left, l - stirling, stirling - l);
  return select(abs(x) == inf_d, inf_d, y);
}

template <Wide T>
SHARDAX_SIMD T digamma(T x) {
  const auto left = x < 0.0;
  const T v = select(left, 1.0 - x, x);
  const auto low = v < 8.0;
  // The sum of 1 / (v + i) for i < 8 as one fraction.
  T numerator = 1.0, denominator = v;
  for (int i = 1; i < 8; ++i) {
    const T next = v + static_cast<double>(i);
    numerator = fma(numerator, next, denominator);
    denominator = denominator * next;
  }
  const T sum = select(low, numerator / denominator, 0.0);
  const T z = select(low, v + 8.0, v);
  const T w = 1.0 / z;
  const T z2 = w * w;
  const T tail = z2 * poly(z2, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
                           -691.0 / 32760, 1.0 / 12);
  const T y = ((log(z) - 0.5 * w) - tail) - sum;
  const SinCos<T> angle = sin_cos_pi(x);
  const T reflected = y - pi_hi * (angle.cos / angle.sin);
  // Conditions one after the other: of a conjunction with a disjunction GCC makes no vectors.
  T result = select(left, reflected, select(x == inf_d, x, y));
  result = select(x <= 0.0, select(angle.sin == 0.0, T(nan_d), result), result);
  return select(x == -inf_d, nan_d, result);
}

}  // namespace detail

// log |gamma(x)|; infinite at 0, -1, -2, ...
template <Single T>
SHARDAX_SIMD T lgamma(T x) {
  return cast<float>(detail::lgamma(cast<double>(x)));
}
// The C library's, one call an element.
inline double lgamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

// The derivative of lgamma; NaN at 0, -1, -2, ... Near its zeros the error is absolute, 1e-15.
template <class T>
SHARDAX_SIMD T digamma(T x) {
  if constexpr (is_single<T>)
    return cast<float>(detail::digamma(cast<double>(x)));
  else
    return detail::digamma(x);
}

}  // namespace shardax::simd
