// kernels/math_elementary.h - exp, log and what is made of them, without branches.
//
// Types: float and double. float functions compute in double and round once: at most 0.6 ULP.
// double: exp, expm1, log, log1p at most 2 ULP; tanh and logistic 3 ULP. Infinities, NaN, zeros,
// denormals and the limits of overflow are those of C. Loops over them vectorise.
//
// Reduction after W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980);
// the polynomials are truncated series, whose error on the reduced range is below 1 ULP.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace shardax::simd {
namespace detail {

#define SHARDAX_INLINE [[gnu::always_inline]] inline

inline constexpr double log2_e = 1.4426950408889634074;
inline constexpr double ln2_high = 6.93147180369123816490e-01;
inline constexpr double ln2_low = 1.90821492927058770002e-10;
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

SHARDAX_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

// To the nearest integer, for |x| < 2^51.
SHARDAX_INLINE double nearest(double x) {
  constexpr double magic = 0x1.8p52;
  return (x + magic) - magic;
}

SHARDAX_INLINE double power_of_two(double n) {  // n an integer in [-1022, 1023]
  constexpr double magic = 0x1.8p52 + 1023;
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(n + magic) << 52);
}

// (e^r - 1) for |r| <= 0.35: r + r^2/2! + ... + r^degree/degree!.
template <int degree>
SHARDAX_INLINE double expm1_series(double r) {
  constexpr double inverse_factorial[] = {1.0,           1.0,           1.0 / 2,       1.0 / 6,
                                          1.0 / 24,      1.0 / 120,     1.0 / 720,     1.0 / 5040,
                                          1.0 / 40320,   1.0 / 362880,  1.0 / 3628800, 1.0 / 39916800,
                                          1.0 / 479001600.0, 1.0 / 6227020800.0};
  double p = inverse_factorial[degree];
#pragma GCC unroll 16
  for (int i = degree - 1; i >= 1; --i) p = fma(p, r, inverse_factorial[i]);
  return p * r;
}

struct Reduced {
  double n, r;
};
SHARDAX_INLINE Reduced reduce_exp(double x) {
  const double n = nearest(x * log2_e);
  return {n, fma(-n, ln2_low, fma(-n, ln2_high, x))};
}

template <int degree>
SHARDAX_INLINE double exp(double x) {
  double bounded = x > 710.0 ? 710.0 : x;
  bounded = bounded < -746.0 ? -746.0 : bounded;
  const Reduced v = reduce_exp(bounded);
  const double half = nearest(v.n * 0.5);
  const double p = 1.0 + expm1_series<degree>(v.r);
  const double result = p * power_of_two(half) * power_of_two(v.n - half);
  return x != x ? x : x > 709.782712893384 ? infinity : result;
}

template <int degree>
SHARDAX_INLINE double expm1(double x) {
  double bounded = x > 710.0 ? 710.0 : x;
  bounded = bounded < -50.0 ? -50.0 : bounded;
  const Reduced v = reduce_exp(bounded);
  const double half = nearest(v.n * 0.5);
  const double first = power_of_two(half), second = power_of_two(v.n - half);
  const double p = expm1_series<degree>(v.r);
  // 2^n (p + 1) - 1, where the part that is exact is kept apart.
  const double small = fma(first, p, first - 1.0 / second) * second;
  const double result = v.n > 60 ? (p + 1.0) * first * second : small;
  return x != x || x == 0 ? x : x > 709.782712893384 ? infinity : result;
}

// log(m) for m in [sqrt(1/2), sqrt(2)]: 2 atanh(s), s = (m - 1) / (m + 1).
template <int terms>
SHARDAX_INLINE double log_series(double f) {  // f = m - 1
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 1.0 / (2 * terms + 1);
#pragma GCC unroll 16
  for (int i = terms - 1; i >= 1; --i) p = fma(p, z, 1.0 / (2 * i + 1));
  // 2 s + 2 s z p, arranged so that the leading term f is exact.
  const double half_square = 0.5 * f * f;
  return f - (half_square - s * (half_square + 2.0 * z * p));
}

struct Split {
  double exponent, fraction;  // x = 2^exponent (1 + fraction)
};
SHARDAX_INLINE Split split(double x) {
  const bool tiny = x < 0x1p-1022;
  const double scaled = tiny ? x * 0x1p54 : x;
  const std::int64_t bits = std::bit_cast<std::int64_t>(scaled);
  // Move the boundary of the mantissa to sqrt(1/2).
  const std::int64_t shifted = bits - 0x3fe6a09e00000000;
  const std::int64_t mantissa = (shifted & 0x000fffffffffffff) + 0x3fe6a09e00000000;
  constexpr double magic = 0x1.8p52;
  const std::int64_t biased = static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) >> 52);
  const std::int64_t sign = (biased ^ 0x800) - 0x800;  // 12 bits, signed
  const double exponent =
      std::bit_cast<double>(sign + std::bit_cast<std::int64_t>(magic)) - magic;
  return {tiny ? exponent - 54.0 : exponent, std::bit_cast<double>(mantissa) - 1.0};
}

SHARDAX_INLINE double log_limits(double x, double result) {
  result = x == infinity ? x : result;
  result = x == 0 ? -infinity : result;
  return x < 0 || x != x ? not_a_number : result;
}

template <int terms>
SHARDAX_INLINE double log(double x) {
  const Split v = split(x);
  const double result = fma(v.exponent, ln2_high, fma(v.exponent, ln2_low, log_series<terms>(v.fraction)));
  return log_limits(x, result);
}

template <int terms>
SHARDAX_INLINE double log1p(double x) {
  const double u = 1.0 + x;
  const Split v = split(u);
  const double lost = (x - (u - 1.0)) / u;  // what rounding 1 + x left out
  const double sum = fma(v.exponent, ln2_high, fma(v.exponent, ln2_low, log_series<terms>(v.fraction) + lost));
  const bool small = x > -0x1p-54 && x < 0x1p-54;
  return small ? x : log_limits(u, sum);
}

// Series long enough for float results and for double ones.
inline constexpr int float_exp = 8, double_exp = 13, float_log = 6, double_log = 11;

template <int exp_degree>
SHARDAX_INLINE double tanh(double x) {
  const double size = std::fabs(x) > 22.0 ? 22.0 : std::fabs(x);
  const double t = expm1<exp_degree>(2.0 * size);
  return x != x || x == 0 ? x : std::copysign(t / (t + 2.0), x);
}

}  // namespace detail

SHARDAX_INLINE float exp(float x) { return static_cast<float>(detail::exp<detail::float_exp>(x)); }
SHARDAX_INLINE double exp(double x) { return detail::exp<detail::double_exp>(x); }
SHARDAX_INLINE float exp2(float x) {
  return static_cast<float>(detail::exp<detail::float_exp>(static_cast<double>(x) * 0.69314718055994530942));
}
inline double exp2(double x) { return std::exp2(x); }
SHARDAX_INLINE float expm1(float x) { return static_cast<float>(detail::expm1<detail::float_exp>(x)); }
SHARDAX_INLINE double expm1(double x) { return detail::expm1<detail::double_exp>(x); }
SHARDAX_INLINE float log(float x) { return static_cast<float>(detail::log<detail::float_log>(x)); }
SHARDAX_INLINE double log(double x) { return detail::log<detail::double_log>(x); }
SHARDAX_INLINE float log1p(float x) { return static_cast<float>(detail::log1p<detail::float_log>(x)); }
SHARDAX_INLINE double log1p(double x) { return detail::log1p<detail::double_log>(x); }
SHARDAX_INLINE float tanh(float x) { return static_cast<float>(detail::tanh<detail::float_exp>(x)); }
SHARDAX_INLINE double tanh(double x) { return detail::tanh<detail::double_exp>(x); }
SHARDAX_INLINE float logistic(float x) {
  return static_cast<float>(1.0 / (1.0 + detail::exp<detail::float_exp>(-static_cast<double>(x))));
}
SHARDAX_INLINE double logistic(double x) { return 1.0 / (1.0 + detail::exp<detail::double_exp>(-x)); }

SHARDAX_INLINE float sinh(float x) {
  const double t = detail::expm1<detail::float_exp>(std::fabs(static_cast<double>(x)));
  const double rest = t == detail::infinity ? 1.0 : t / (t + 1.0);
  return x != x || x == 0 ? x : static_cast<float>(std::copysign(0.5 * (t + rest), static_cast<double>(x)));
}
inline double sinh(double x) { return std::sinh(x); }
SHARDAX_INLINE float cosh(float x) {
  const double e = detail::exp<detail::float_exp>(std::fabs(static_cast<double>(x)));
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
inline double cosh(double x) { return std::cosh(x); }

}  // namespace shardax::simd
