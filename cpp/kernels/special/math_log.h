// kernels/special/math_log.h - logarithms and inverse hyperbolic functions: log log2 log10 log1p
// asinh acosh atanh.
#pragma once

#include "kernels/special/math_base.h"

// Method: x = m 2^e with m in [sqrt(1/2), sqrt(2)), f = m - 1. float: log(1 + f) = f - f^2/2 +
// f^3 p(f); double: the series in s = f / (2 + f) arranged as in Tang, "Table-driven
// implementation of the logarithm function", 1990. Polynomials by Remez's exchange algorithm.
namespace shardax::simd {

namespace detail {

// log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1], plus e ln2.
template <class T>
SHARDAX_SIMD T log_near_one(T f, T e) {
  if constexpr (is_single<T>) {
    const T z = f * f;
    const T p =
        poly(f, 3.3333313e-01f, -2.5000012e-01f, 2.0002075e-01f, -1.6667855e-01f, 1.422019e-01f,
             -1.2408175e-01f, 1.1886549e-01f, -1.1660927e-01f, 6.732509e-02f);
    const T y = fma(T(-0.5f), z, fma(e, T(ln2_lo_f), f * z * p));
    return fma(e, T(ln2_hi_f), f + y);
  } else {
    const T s = f / (2.0 + f);
    const T z = s * s;
    const T r =
        z * poly(z, 0.6666666666666735, 0.39999999999409863, 0.285714287434941, 0.22222198455077805,
                 0.18183570720663833, 0.1531388020361685, 0.14797722067087124);
    const T h = 0.5 * f * f;
    return fma(e, T(ln2_hi), f - (h - fma(s, h + r, e * ln2_lo)));
  }
}

// log in double for normal x > 0, relative error 2^-37 also near 1: for float results.
template <Wide T>
SHARDAX_SIMD T log_for_float(T x) {
  const auto [m, e] = split(x);
  const T s = (m - 1.0) / (m + 1.0);
  const T z = s * s;
  const T r =
      z * poly(z, 0.6666666564127705, 0.4000033621535781, 0.28537238647543606, 0.23583562538965017);
  return fma(e, T(ln2_hi), fma(s, r, 2.0 * s));
}

// x as a normal number, and the exponent to add.
template <class T>
struct Normal {
  T x, shift;
};
template <class T>
SHARDAX_SIMD Normal<T> normalise(T x) {
  using N = number_of<T>;
  constexpr N least = std::numeric_limits<N>::min();
  constexpr N by = is_single<T> ? N(25) : N(54), factor = is_single<T> ? N(0x1p25) : N(0x1p54);
  const auto tiny = x < least;
  return {x * select(tiny, T(factor), T(N(1))), select(tiny, T(-by), T(N(0)))};
}

// The values of a logarithm `y` at the ends of its domain: 0, infinity, negatives, NaN.
template <class T>
SHARDAX_SIMD T log_ends(T x, T y) {
  using N = number_of<T>;
  constexpr N inf = std::numeric_limits<N>::infinity();
  y = select(x < inf, y, x);
  y = select(x == N(0), T(-inf), y);
  return select(x < N(0), T(std::numeric_limits<N>::quiet_NaN()), y);
}

}  // namespace detail

// Natural logarithm.
template <class T>
SHARDAX_SIMD T log(T x) {
  const auto normal = detail::normalise(x);
  const auto [m, e] = split(normal.x);
  return detail::log_ends(x, detail::log_near_one(m - number_of<T>(1), e + normal.shift));
}

// log(1 + x) = log(m) + e ln2 with m - 1 = x 2^-e + (2^-e - 1), which rounds once; small x kept.
// Very small x are the result, and their squares, which may underflow, are not taken.
template <class T>
SHARDAX_SIMD T log1p(T x) {
  using N = number_of<T>;
  constexpr N inf = std::numeric_limits<N>::infinity();
  constexpr int mantissa = std::numeric_limits<N>::digits - 1;
  constexpr N magic = is_single<T> ? N(round_magic_f) : N(round_magic_d);
  using U = decltype(bits(magic));
  constexpr U bias = is_single<T> ? U(127) : U(1023);
  constexpr N tiny = is_single<T> ? N(0x1p-26) : N(0x1p-55);
  const auto is_tiny = abs(x) < tiny;
  const auto [m, e] = split(N(1) + x);
  const T s = from_bits((bias - (bits(e + magic) - bits(magic))) << mantissa);
  const T f = select(x > N(0x1p60), m - N(1), fma(x, s, s - N(1)));
  T y = detail::log_near_one(select(is_tiny, T(N(0)), f), e);
  y = select(is_tiny, x, select(x < inf, y, x));
  y = select(x < N(-1), T(std::numeric_limits<N>::quiet_NaN()), y);
  return select(x == N(-1), T(-inf), copysign(y, x));
}

template <class T>
SHARDAX_SIMD T log2(T x) {
  using N = number_of<T>;
  constexpr N high = is_single<T> ? N(log2e_f) : N(log2e);
  constexpr N low = is_single<T> ? N(log2e_lo_f) : N(log2e_lo);
  const auto normal = detail::normalise(x);
  const auto [m, e] = split(normal.x);
  const T l = detail::log_near_one(m - N(1), T(N(0)));
  return detail::log_ends(x, fma(l, T(high), fma(l, T(low), e + normal.shift)));
}

template <class T>
SHARDAX_SIMD T log10(T x) {
  using N = number_of<T>;
  constexpr N high = is_single<T> ? N(log10e_f) : N(log10e);
  constexpr N low = is_single<T> ? N(log10e_lo_f) : N(log10e_lo);
  constexpr N two_high = is_single<T> ? N(log10_2_hi_f) : N(log10_2_hi);
  constexpr N two_low = is_single<T> ? N(log10_2_lo_f) : N(log10_2_lo);
  const auto normal = detail::normalise(x);
  const auto [m, e] = split(normal.x);
  const T l = detail::log_near_one(m - N(1), T(N(0)));
  const T rest = fma(e + normal.shift, T(two_low), l * low);
  return detail::log_ends(x, fma(e + normal.shift, T(two_high), fma(l, T(high), rest)));
}

template <Single T>
SHARDAX_SIMD T asinh(T x) {
  const auto a = cast<double>(abs(x));
  using D = std::remove_const_t<decltype(a)>;
  const D z = a * a;
  const D far = detail::log_for_float(1.0 + (a + z / (1.0 + sqrt(1.0 + z))));
  const D y = select(a < 0x1p-10, a * (1.0 - z * (1.0 / 6.0)), far);
  return copysign(cast<float>(select(a < inf_d, y, a)), x);
}
template <Wide T>
SHARDAX_SIMD T asinh(T x) {
  const T a = abs(x);
  const T z = a * a;
  const auto big = a > 0x1p60;
  const T y = log1p(select(big, a, a + z / (1.0 + sqrt(1.0 + z))));
  return copysign(select(big, y + ln2_hi, y), x);
}

template <Single T>
SHARDAX_SIMD T acosh(T x) {
  const auto wide = cast<double>(x);
  using D = std::remove_const_t<decltype(wide)>;
  const D t = wide - 1.0;
  const D y = detail::log_for_float(1.0 + (t + sqrt(t * (t + 2.0))));
  const T r = cast<float>(select(wide < inf_d, y, wide));
  return select(x < 1.0f, T(nan_f), r);
}
template <Wide T>
SHARDAX_SIMD T acosh(T x) {
  const T t = x - 1.0;
  const auto big = x > 0x1p60;
  const T y = log1p(select(big, x, t + sqrt(t * (t + 2.0))));
  return select(x < 1.0, T(nan_d), select(big, y + ln2_hi, y));
}

template <Single T>
SHARDAX_SIMD T atanh(T x) {
  const auto a = cast<double>(abs(x));
  using D = std::remove_const_t<decltype(a)>;
  const D far = 0.5 * detail::log_for_float(1.0 + 2.0 * a / (1.0 - a));
  T y = cast<float>(select(a < 0x1p-10, a * (1.0 + a * a * (1.0 / 3.0)), far));
  y = select(a < 1.0, y, inf_f);
  return select(a <= 1.0, copysign(y, x), nan_f);
}
template <Wide T>
SHARDAX_SIMD T atanh(T x) {
  const T a = abs(x);
  const T y = select(a < 0x1p-28, a, 0.5 * log1p(2.0 * a / (1.0 - a)));
  return copysign(y, x);
}

}  // namespace shardax::simd
