// kernels/special/math_power.h - roots and powers: rsqrt cbrt pow.
#pragma once

#include "kernels/special/math_base.h"

namespace shardax::simd {

// 1 / sqrt(x): two roundings, at most 1.5 ULP.
template <class T>
SHARDAX_SIMD T rsqrt(T x) {
  return number_of<T>(1) / sqrt(x);
}

// Halley's iteration in double, from a third of the exponent's and mantissa's bits (5 % off).
SHARDAX_SIMD float cbrt(float x) {
  const double a = static_cast<double>(abs(x));
  const auto high = static_cast<std::uint32_t>(bits(a) >> 32);
  double y = from_bits(static_cast<std::uint64_t>(high / 3u + 715094163u) << 32);
  for (int step = 0; step < 2; ++step) {
    const double cube = y * y * y;
    y = y * ((cube + 2.0 * a) / (2.0 * cube + a));
  }
  const float r = static_cast<float>(y);
  return x == 0.0f || !(a < inf_d) ? x : copysign(r, x);
}
// The same with a last Newton step, whose residual y^3 - a is taken in twice the precision.
SHARDAX_SIMD double cbrt(double x) {
  const double size = abs(x);
  const bool small = size < 0x1p-900, large = size > 0x1p900;
  const double a = size * (small ? 0x1p300 : (large ? 0x1p-300 : 1.0));
  const auto high = static_cast<std::uint32_t>(bits(a) >> 32);
  double y = from_bits(static_cast<std::uint64_t>(high / 3u + 715094163u) << 32);
  for (int step = 0; step < 2; ++step) {
    const double cube = y * y * y;
    y = y * ((cube + 2.0 * a) / (2.0 * cube + a));
  }
  const double y2 = y * y;
  const double y2_lo = fma(y, y, -y2);
  const double residual = fma(y2, y, -a) + y2_lo * y;
  y = y - residual / (3.0 * y2);
  const double r = y * (small ? 0x1p-100 : (large ? 0x1p100 : 1.0));
  return x == 0.0 || !(size < inf_d) ? x : copysign(r, x);
}

// x^y = 2^(y log2 |x|) in double, where the logarithm has 37 bits; the exceptional cases of C.
template <Single T>
SHARDAX_SIMD T pow(T x, T y) {
  const auto a = cast<double>(abs(x));
  using D = std::remove_const_t<decltype(a)>;
  const D b = cast<double>(y);
  const auto [m, e] = split(a);
  const D s = (m - 1.0) / (m + 1.0);
  const D z = s * s;
  const D r =
      z * poly(z, 0.6666666564127705, 0.4000033621535781, 0.28537238647543606, 0.23583562538965017);
  D l = fma(fma(s, r, 2.0 * s), D(log2e), e);
  l = select(a == 0.0, D(-inf_d), l);
  l = select(a < inf_d, l, a);
  D p = b * l;
  p = select(p < -160.0, D(-160.0), p);
  p = select(p > 130.0, D(130.0), p);
  const D t = p + round_magic_d;
  const D n = t - round_magic_d;
  const D f = p - n;
  const D q =
      poly(f, 0.6931471805418465, 0.2402265107600018, 0.055504109619795086, 0.00961803687384054,
           0.0013333431255437142, 0.0001546711491768072, 1.5314840234656177e-05);
  const D power = scale_normal(fma(f, q, D(1.0)), n, bits(t) - bits(round_magic_d));
  const T size = cast<float>(power);

  const T half = 0.5f * y;
  const auto whole = floor(y) == y;
  const auto odd = (floor(half) != half) && whole;  // in this order GCC makes vectors of it
  const auto signs = bits(x) & 0x80000000u;
  T result = select(odd, from_bits(bits(size) | signs), size);
  result = select((x < 0.0f) && (x > -inf_f) && !whole, T(nan_f), result);
  result = select((x == -1.0f) && (abs(y) == inf_f), T(1.0f), result);
  return select((y == 0.0f) || (x == 1.0f), T(1.0f), result);
}
// The C library's, one call an element; within 1 ULP.
inline double pow(double x, double y) { return std::pow(x, y); }

}  // namespace shardax::simd
