// kernels/math_special.h - the error function, its inverse, and the gamma function's kin.
#pragma once

#include <cmath>

#include "kernels/math_elementary.h"
#include "kernels/math_trigonometric.h"

namespace shardax::simd {

template <class T> T erf(T x) { return std::erf(x); }
template <class T> T erfc(T x) { return std::erfc(x); }

// M. Giles, "Approximating the erfinv function", GPU Computing Gems (2010), single precision: a
// polynomial in w = -log(1 - x^2) for the middle and one in sqrt(w) for the tails. About 3 ULP.
SHARDAX_INLINE float erf_inv(float x) {
  constexpr float middle[] = {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f,
                              -4.39150654e-06f, 0.00021858087f, -0.00125372503f,
                              -0.00417768164f, 0.246640727f, 1.50140941f};
  constexpr float tail[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f,
                            -0.00367342844f, 0.00573950773f, -0.0076224613f,
                            0.00943887047f, 1.00167406f, 2.83297682f};
  const float w = -log1p(-x * x);
  const bool inner = w < 5.0f;
  const float t = inner ? w - 2.5f : std::sqrt(w) - 3.0f;
  float p = inner ? middle[0] : tail[0];
#pragma GCC unroll 8
  for (int i = 1; i < 9; ++i) p = (inner ? middle[i] : tail[i]) + p * t;
  const float edge = x * std::numeric_limits<float>::infinity();
  return std::fabs(x) == 1.0f ? edge : p * x;
}

// Newton's method on erfc from the single precision value; two steps reach the rounding error.
inline double erf_inv(double x) {
  const double size = std::fabs(x);
  if (!(size < 1.0)) return size == 1.0 ? x * detail::infinity : detail::not_a_number;
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
  if (x == 0) return -detail::infinity;
  if (x < 0 && x == std::floor(x)) return detail::not_a_number;
  double sum = 0;
  if (x < 0) {
    constexpr double pi = 3.14159265358979323846;
    sum = -pi / std::tan(pi * x);
    x = 1.0 - x;
  }
  for (; x < 10.0; x += 1.0) sum -= 1.0 / x;
  const double z = 1.0 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691.0 / 32760)))));
  return sum + std::log(x) - 0.5 / x - series;
}
inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

}  // namespace shardax::simd
