// kernels/math_special.h - the error function, its inverse, and the gamma function's kin.
#pragma once

#include <cmath>

#include "kernels/math_base.h"
#include "kernels/math_log.h"
#include "kernels/math_trigonometric.h"

namespace shardax::simd {

template <class T>
T erf(T x) {
  return std::erf(x);
}
template <class T>
T erfc(T x) {
  return std::erfc(x);
}

// M. Giles, "Approximating the erfinv function", GPU Computing Gems (2010), single precision: a
// polynomial in w = -log(1 - x^2) for the middle and one in sqrt(w) for the tails. About 3 ULP.
SHARDAX_SIMD float erf_inv(float x) {
  const float w = -log1p(-x * x);
  const float m = w - 2.5f;
  float middle = 2.81022636e-08f;
  middle = 3.43273939e-07f + middle * m;
  middle = -3.5233877e-06f + middle * m;
  middle = -4.39150654e-06f + middle * m;
  middle = 0.00021858087f + middle * m;
  middle = -0.00125372503f + middle * m;
  middle = -0.00417768164f + middle * m;
  middle = 0.246640727f + middle * m;
  middle = 1.50140941f + middle * m;
  const float t = __builtin_sqrtf(w < 5.0f ? 5.0f : w) - 3.0f;
  float tail = -0.000200214257f;
  tail = 0.000100950558f + tail * t;
  tail = 0.00134934322f + tail * t;
  tail = -0.00367342844f + tail * t;
  tail = 0.00573950773f + tail * t;
  tail = -0.0076224613f + tail * t;
  tail = 0.00943887047f + tail * t;
  tail = 1.00167406f + tail * t;
  tail = 2.83297682f + tail * t;
  const float result = (w < 5.0f ? middle : tail) * x;
  const float edge = x * inf_f;
  return x == 1.0f || x == -1.0f ? edge : result;
}

// Newton's method on erfc from the single precision value; two steps reach the rounding error.
inline double erf_inv(double x) {
  const double size = std::fabs(x);
  if (!(size < 1.0)) return size == 1.0 ? x * inf_d : nan_d;
  double y = size > 0.9999999 ? std::sqrt(-std::log1p(-size)) : erf_inv(static_cast<float>(size));
  for (int step = 0; step < (size > 0.9999999 ? 8 : 3); ++step) {
    const double error = size < 0.5 ? std::erf(y) - size : (1.0 - size) - std::erfc(y);
    const double slope = 1.1283791670955125739 * std::exp(-y * y);
    const double change = error / slope;
    y -= change / (1.0 + y * change);  // Halley's correction
  }
  return std::copysign(y, x);
}

inline float lgamma(float x) {
  int sign;
  return static_cast<float>(lgamma_r(static_cast<double>(x), &sign));
}
inline double lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

// Reflection for negative x, recurrence up to 10, then the asymptotic series (Abramowitz and Stegun
// 6.3.7, 6.3.5, 6.3.18).
inline double digamma(double x) {
  if (x == 0) return -inf_d;
  if (x < 0 && x == std::floor(x)) return nan_d;
  double sum = 0;
  if (x < 0) {
    constexpr double pi = 3.14159265358979323846;
    sum = -pi / std::tan(pi * x);
    x = 1.0 - x;
  }
  for (; x < 10.0; x += 1.0) sum -= 1.0 / x;
  const double z = 1.0 / (x * x);
  const double series =
      z *
      (1.0 / 12 -
       z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691.0 / 32760)))));
  return sum + std::log(x) - 0.5 / x - series;
}
inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

}  // namespace shardax::simd
