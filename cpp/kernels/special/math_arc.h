// kernels/special/math_arc.h - inverse circular functions: asin acos atan atan2.
#pragma once

#include "kernels/special/math_base.h"

// Method: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) above 1/2 and atan(x) = pi/2 - atan(1/x) above
// 1 leave x + x^3 p(x^2), p by Remez's exchange algorithm. double: the C library's functions, one
// call an element.
namespace shardax::simd {

namespace detail {

// asin(s) = s + s z p(z), z = s^2 <= 1/4.
template <Single T>
SHARDAX_SIMD T asin_poly(T s, T z) {
  return fma(s * z,
             poly(z, 1.6666752e-01f, 7.49531e-02f, 4.546902e-02f, 2.4185507e-02f, 4.2156998e-02f),
             s);
}
// atan(q) for |q| <= 1.
template <Single T>
SHARDAX_SIMD T atan_poly(T q) {
  const T z = q * q;
  return fma(
      q * z,
      poly(z, -3.3333328e-01f, 1.9999716e-01f, -1.4280343e-01f, 1.1061233e-01f, -8.821462e-02f,
           6.763649e-02f, -4.4983257e-02f, 2.2777617e-02f, -7.425363e-03f, 1.1345221e-03f),
      q);
}

}  // namespace detail

template <Single T>
SHARDAX_SIMD T asin(T x) {
  const T a = abs(x);
  const auto low = a < 0.5f;
  const T z = select(low, a * a, 0.5f * (1.0f - a));
  const T s = select(low, a, sqrt(z));
  const T t = detail::asin_poly(s, z);
  const T far = (0.5f * pi_hi_f - 2.0f * t) + 0.5f * pi_lo_f;
  return copysign(select(low, t, far), x);
}
inline double asin(double x) { return std::asin(x); }

template <Single T>
SHARDAX_SIMD T acos(T x) {
  const T a = abs(x);
  const auto low = a < 0.5f;
  const T z = select(low, a * a, 0.5f * (1.0f - a));
  const T s = select(low, a, sqrt(z));
  const T t = copysign(detail::asin_poly(s, z), x);
  const T near = 0.5f * pi_hi_f - (t - 0.5f * pi_lo_f);
  const auto left = x < 0.0f;
  const T far = select(left, T(pi_hi_f), T(0.0f)) + (2.0f * t + select(left, T(pi_lo_f), T(0.0f)));
  return select(low, near, far);
}
inline double acos(double x) { return std::acos(x); }

template <Single T>
SHARDAX_SIMD T atan(T x) {
  const T a = abs(x);
  const auto inverted = a > 1.0f;
  const T t = detail::atan_poly(select(inverted, T(1.0f), a) / select(inverted, a, T(1.0f)));
  const T far = 0.5f * pi_hi_f - (t - 0.5f * pi_lo_f);
  return copysign(select(inverted, far, t), x);
}
inline double atan(double x) { return std::atan(x); }

// The angle of the point (x, y), in [-pi, pi]; signs of zeros and infinities as in C.
template <Single T>
SHARDAX_SIMD T atan2(T y, T x) {
  const T ax = abs(x), ay = abs(y);
  const auto steep = ay > ax;
  const T high = select(steep, ay, ax);
  const T low = select(steep, ax, ay);
  T q = low / high;
  q = select(high == 0.0f, T(0.0f), q);
  q = select(low == inf_f, T(1.0f), q);
  const T t = detail::atan_poly(q);
  const auto left = (bits(x) >> 31) != 0u;
  const T turns = select(steep, T(0.5f), select(left, T(1.0f), T(0.0f)));
  const T signed_t = select(steep != left, -t, t);
  const T angle = turns * pi_hi_f + fma(turns, T(pi_lo_f), signed_t);
  return select((x != x) || (y != y), x + y, copysign(angle, y));
}
inline double atan2(double y, double x) { return std::atan2(y, x); }

}  // namespace shardax::simd
