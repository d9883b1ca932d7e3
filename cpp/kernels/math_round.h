// kernels/math_round.h - rounding to integers, signs, remainders and neighbours.
#pragma once

#include "kernels/math_base.h"

// All exact. rem calls the C library once an element.
namespace shardax::simd {

SHARDAX_SIMD float floor(float x) { return __builtin_floorf(x); }
SHARDAX_SIMD double floor(double x) { return __builtin_floor(x); }
SHARDAX_SIMD float ceil(float x) { return __builtin_ceilf(x); }
SHARDAX_SIMD double ceil(double x) { return __builtin_ceil(x); }
SHARDAX_SIMD float trunc(float x) { return __builtin_truncf(x); }
SHARDAX_SIMD double trunc(double x) { return __builtin_trunc(x); }

// To the nearest integer, halves to the even one.
SHARDAX_SIMD float round_even(float x) { return __builtin_rintf(x); }
SHARDAX_SIMD double round_even(double x) { return __builtin_rint(x); }
// To the nearest integer, halves away from zero.
SHARDAX_SIMD float round_away(float x) {
  const float t = __builtin_truncf(x);
  return copysign(abs(x - t) >= 0.5f ? t + copysign(1.0f, x) : t, x);
}
SHARDAX_SIMD double round_away(double x) {
  const double t = __builtin_trunc(x);
  return copysign(abs(x - t) >= 0.5 ? t + copysign(1.0, x) : t, x);
}

// -1, 1, the zero itself, or NaN.
template <class T>
SHARDAX_SIMD T sign(T x) {
  return abs(x) > T(0) ? copysign(T(1), x) : x;
}

// x - y trunc(x / y), with the sign of x.
inline float rem(float x, float y) { return std::fmod(x, y); }
inline double rem(double x, double y) { return std::fmod(x, y); }

// The number next to x in the direction of y.
template <class T>
SHARDAX_SIMD T nextafter(T x, T y) {
  using U = decltype(bits(x));
  const bool away = (y > x) == (x > T(0));
  const U stepped = bits(x) + (away ? U(1) : ~U(0));
  const T smallest = copysign(std::numeric_limits<T>::denorm_min(), y);
  const T moved = x == T(0) ? smallest : from_bits(stepped);
  const T result = x == y ? y : moved;
  return x != x || y != y ? x + y : result;
}

}  // namespace shardax::simd
