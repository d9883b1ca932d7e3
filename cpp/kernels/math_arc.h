// kernels/math_arc.h - inverse circular functions: asin acos atan atan2.
#pragma once

#include "kernels/math_base.h"

// Method: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) above 1/2 and atan(x) = pi/2 - atan(1/x) above
// 1 leave x + x^3 p(x^2), p by Remez's exchange algorithm. double: the C library's functions, one
// call an element.
namespace shardax::simd {

namespace detail {

// asin(s) = s + s z p(z), z = s^2 <= 1/4.
SHARDAX_SIMD float asin_poly(float s, float z) {
  return fma(s * z,
             poly(z, 1.6666752e-01f, 7.49531e-02f, 4.546902e-02f, 2.4185507e-02f, 4.2156998e-02f),
             s);
}
// atan(q) for |q| <= 1.
SHARDAX_SIMD float atan_poly(float q) {
  const float z = q * q;
  return fma(
      q * z,
      poly(z, -3.3333328e-01f, 1.9999716e-01f, -1.4280343e-01f, 1.1061233e-01f, -8.821462e-02f,
           6.763649e-02f, -4.4983257e-02f, 2.2777617e-02f, -7.425363e-03f, 1.1345221e-03f),
      q);
}

}  // namespace detail

SHARDAX_SIMD float asin(float x) {
  const float a = abs(x);
  const bool low = a < 0.5f;
  const float z = low ? a * a : 0.5f * (1.0f - a);
  const float s = low ? a : sqrt(z);
  const float t = detail::asin_poly(s, z);
  const float far = (0.5f * pi_hi_f - 2.0f * t) + 0.5f * pi_lo_f;
  return copysign(low ? t : far, x);
}
inline double asin(double x) { return std::asin(x); }

SHARDAX_SIMD float acos(float x) {
  const float a = abs(x);
  const bool low = a < 0.5f;
  const float z = low ? a * a : 0.5f * (1.0f - a);
  const float s = low ? a : sqrt(z);
  const float t = copysign(detail::asin_poly(s, z), x);
  const float near = 0.5f * pi_hi_f - (t - 0.5f * pi_lo_f);
  const float far = (x < 0.0f ? pi_hi_f : 0.0f) + (2.0f * t + (x < 0.0f ? pi_lo_f : 0.0f));
  return low ? near : far;
}
inline double acos(double x) { return std::acos(x); }

SHARDAX_SIMD float atan(float x) {
  const float a = abs(x);
  const bool inverted = a > 1.0f;
  const float t = detail::atan_poly((inverted ? 1.0f : a) / (inverted ? a : 1.0f));
  const float far = 0.5f * pi_hi_f - (t - 0.5f * pi_lo_f);
  return copysign(inverted ? far : t, x);
}
inline double atan(double x) { return std::atan(x); }

// The angle of the point (x, y), in [-pi, pi]; signs of zeros and infinities as in C.
SHARDAX_SIMD float atan2(float y, float x) {
  const float ax = abs(x), ay = abs(y);
  const bool steep = ay > ax;
  const float high = steep ? ay : ax;
  const float low = steep ? ax : ay;
  float q = low / high;
  q = high == 0.0f ? 0.0f : q;
  q = low == inf_f ? 1.0f : q;
  const float t = detail::atan_poly(q);
  const bool left = (bits(x) >> 31) != 0;
  const float turns = steep ? 0.5f : (left ? 1.0f : 0.0f);
  const float signed_t = steep != left ? -t : t;
  const float angle = turns * pi_hi_f + fma(turns, pi_lo_f, signed_t);
  return x != x || y != y ? x + y : copysign(angle, y);
}
inline double atan2(double y, double x) { return std::atan2(y, x); }

}  // namespace shardax::simd
