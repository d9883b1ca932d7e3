// kernels/math_trigonometric.h - sin, cos, tan and the inverse functions.
//
// float sin, cos and tan compute in double without branches: at most 0.6 ULP for |x| < 2^30;
// beyond, the reduction loses digits. The others, and double, are those of the C library (1 ULP).
#pragma once

#include <cmath>

#include "kernels/math_base.h"

namespace shardax::simd {
namespace circular {

struct Quarter {
  double r;        // x - n pi / 2, in [-pi/4, pi/4]
  std::int64_t n;  // only its low bits matter
};
// pi / 2 in three parts of 33 bits and less (Cody and Waite), each product exact below 2^20 or so.
SHARDAX_SIMD Quarter reduce_quarter(double x) {
  constexpr double magic = 0x1.8p52;
  const double shifted = __builtin_fma(x, 0.63661977236758134308, magic);
  const double n = shifted - magic;
  double r = __builtin_fma(-n, 1.57079632673412561417e+00, x);
  r = __builtin_fma(-n, 6.07710050630396597660e-11, r);
  r = __builtin_fma(-n, 2.02226624879595063154e-21, r);
  return {r, std::bit_cast<std::int64_t>(shifted)};
}

SHARDAX_SIMD double sin_series(double r) {
  const double z = r * r;
  double p = -1.0 / 39916800;
  p = __builtin_fma(p, z, 1.0 / 362880);
  p = __builtin_fma(p, z, -1.0 / 5040);
  p = __builtin_fma(p, z, 1.0 / 120);
  p = __builtin_fma(p, z, -1.0 / 6);
  return __builtin_fma(p * z, r, r);
}
SHARDAX_SIMD double cos_series(double r) {
  const double z = r * r;
  double p = 1.0 / 479001600;
  p = __builtin_fma(p, z, -1.0 / 3628800);
  p = __builtin_fma(p, z, 1.0 / 40320);
  p = __builtin_fma(p, z, -1.0 / 720);
  p = __builtin_fma(p, z, 1.0 / 24);
  p = __builtin_fma(p, z, -0.5);
  return __builtin_fma(p, z, 1.0);
}

SHARDAX_SIMD double sin_of(double x, std::int64_t quarters) {
  const Quarter q = reduce_quarter(x);
  const std::int64_t n = q.n + quarters;
  const double value = (n & 1) ? cos_series(q.r) : sin_series(q.r);
  return (n & 2) ? -value : value;
}

}  // namespace circular

SHARDAX_SIMD float sin(float x) {
  const float value = static_cast<float>(circular::sin_of(x, 0));
  return x == 0 ? x : value;
}
SHARDAX_SIMD float cos(float x) { return static_cast<float>(circular::sin_of(x, 1)); }
SHARDAX_SIMD float tan(float x) {
  const circular::Quarter q = circular::reduce_quarter(x);
  const double s = circular::sin_series(q.r), c = circular::cos_series(q.r);
  const float value = static_cast<float>((q.n & 1) ? -c / s : s / c);
  return x == 0 ? x : value;
}
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }
inline double tan(double x) { return std::tan(x); }

template <class T>
T asin(T x) {
  return std::asin(x);
}
template <class T>
T acos(T x) {
  return std::acos(x);
}
template <class T>
T atan(T x) {
  return std::atan(x);
}
template <class T>
T atan2(T y, T x) {
  return std::atan2(y, x);
}
template <class T>
T cbrt(T x) {
  return std::cbrt(x);
}
inline float pow(float x, float y) {
  return static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y)));
}
inline double pow(double x, double y) { return std::pow(x, y); }

}  // namespace shardax::simd
