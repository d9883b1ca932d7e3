// kernels/special/math_exp.h - exponentials and hyperbolic functions: exp exp2 expm1 logistic tanh
// sinh cosh.
#pragma once

#include <utility>

#include "kernels/special/math_base.h"

// Method: x = n ln2 + r with |r| <= ln2 / 2 in two fused steps (Cody and Waite 1980). A minimax
// polynomial in r follows (Remez's exchange algorithm with coefficients rounded one after the
// other). Two multiplications by powers of two round denormal results once. Accuracy over the whole
// domain is measured by tests/kernels/test_math_accuracy.py.
namespace shardax::simd {

namespace detail {

// exp(r) - 1 = r + r^2 p(r) for |r| <= ln2 / 2.
template <class T>
SHARDAX_SIMD T exp_tail(T r) {
  if constexpr (is_single<T>)
    return poly(r, 4.9999994e-01f, 1.666652e-01f, 4.1668244e-02f, 8.3688395e-03f, 1.3822988e-03f);
  else
    return poly(r, 0.5, 0.16666666666666682, 0.04166666666666646, 0.00833333333331759,
                0.001388888888900426, 0.00019841269895359883, 2.480158708253171e-05,
                2.7557235637457098e-06, 2.755747868598117e-07, 2.5111830946418515e-08,
                2.085277340310634e-09);
}
// The same for |r| <= ln2.
template <class T>
SHARDAX_SIMD T expm1_tail(T r) {
  if constexpr (is_single<T>)
    return poly(r, 5.e-01f, 1.6666672e-01f, 4.1666646e-02f, 8.332661e-03f, 1.3889748e-03f,
                2.0091207e-04f, 2.4840603e-05f);
  else
    return poly(r, 0.5, 0.1666666666666666, 0.041666666666666755, 0.008333333333336164,
                0.001388888888886923, 0.00019841269837293432, 2.4801587316716736e-05,
                2.755732175406919e-06, 2.75573141951974e-07, 2.505130116622174e-08,
                2.087740973637623e-09, 1.618504652409569e-10, 1.1472749233804887e-11);
}

// x = n ln2 + r, n also as the integer k in two's complement.
template <class T>
struct Reduced {
  T r, n;
  decltype(bits(std::declval<T>())) k;
};
template <class T>
struct Logarithms {
  static constexpr bool single = is_single<T>;
  using N = number_of<T>;
  static constexpr N log2_of_e = single ? N(log2e_f) : N(log2e);
  static constexpr N high = single ? N(ln2_hi_f) : N(ln2_hi);
  static constexpr N low = single ? N(ln2_lo_f) : N(ln2_lo);
  static constexpr N magic = single ? N(round_magic_f) : N(round_magic_d);
};
template <class T>
SHARDAX_SIMD Reduced<T> reduce_by(T x, T t) {
  using L = Logarithms<T>;
  const T n = t - L::magic;
  return {fma(n, T(-L::low), fma(n, T(-L::high), x)), n, bits(t) - bits(L::magic)};
}
template <class T>
SHARDAX_SIMD Reduced<T> reduce_exp(T x) {
  using L = Logarithms<T>;
  return reduce_by(x, fma(x, T(L::log2_of_e), T(L::magic)));
}
// The same with n rounded towards zero, so r has the sign of x and |r| <= ln2.
template <class T>
SHARDAX_SIMD Reduced<T> reduce_expm1(T x) {
  using L = Logarithms<T>;
  const T half = copysign(T(typename L::N(0.5)), x);
  return reduce_by(x, fma(x, T(L::log2_of_e), -half) + L::magic);
}

// exp for -87 <= x <= 88.3 (float) or |x| <= 708 (double).
template <class T>
SHARDAX_SIMD T exp_normal(T x) {
  const auto [r, n, k] = reduce_exp(x);
  return scale_normal(number_of<T>(1) + fma(r * r, exp_tail(r), r), n, k);
}

// exp(x) / 2 for x >= 0, finite up to the logarithm of twice the largest number.
template <class T>
SHARDAX_SIMD T half_exp(T x) {
  using N = number_of<T>;
  constexpr N high = is_single<T> ? N(91) : N(712);
  x = select(x > high, T(high), x);
  const auto [r, n, k] = reduce_exp(x);
  return scale(N(1) + fma(r * r, exp_tail(r), r), n - N(1), k - 1u);
}

}  // namespace detail

// A power of 0 is not multiplied: products that underflow take Intel's processors a hundred cycles,
// and masked scores of attention are all of that kind.

// e^x.
template <class T>
SHARDAX_SIMD T exp(T x) {
  using N = number_of<T>;
  constexpr N low = is_single<T> ? N(-104) : N(-746), high = is_single<T> ? N(89) : N(710);
  const auto zero = x < low;
  x = select(zero, T(N(0)), x);
  x = select(x > high, T(high), x);
  const auto [r, n, k] = detail::reduce_exp(x);
  return select(zero, T(N(0)), scale(N(1) + fma(r * r, detail::exp_tail(r), r), n, k));
}

// 2^x.
template <Single T>
SHARDAX_SIMD T exp2(T x) {
  const auto zero = x < -151.0f;
  x = select(zero, T(0.0f), x);
  x = select(x > 129.0f, T(129.0f), x);
  const T t = x + round_magic_f;
  const T n = t - round_magic_f;
  const T r = x - n;
  const T p = poly(r, 6.931472e-01f, 2.402265e-01f, 5.5503592e-02f, 9.61807e-03f, 1.3391147e-03f,
                   1.545965e-04f);
  return select(zero, T(0.0f), scale(fma(r, p, T(1.0f)), n, bits(t) - bits(round_magic_f)));
}
template <Wide T>
SHARDAX_SIMD T exp2(T x) {
  const auto zero = x < -1076.0;
  x = select(zero, T(0.0), x);
  x = select(x > 1025.0, T(1025.0), x);
  const T t = x + round_magic_d;
  const T n = t - round_magic_d;
  const T f = x - n;
  const T r = f * ln2_hi;
  const T r_lo = fma(f, T(ln2_lo), fma(f, T(ln2_hi), -r));
  const T y = 1.0 + (r + fma(r * r, detail::exp_tail(r), r_lo));
  return select(zero, T(0.0), scale(y, n, bits(t) - bits(round_magic_d)));
}

// e^x - 1, with small x kept.
template <class T>
SHARDAX_SIMD T expm1(T x) {
  using N = number_of<T>;
  constexpr N low = is_single<T> ? N(-18) : N(-38), high = is_single<T> ? N(89) : N(710);
  T c = select(x < low, T(low), x);
  c = select(c > high, T(high), c);
  const auto [r, n, k] = detail::reduce_expm1(c);
  const T y = fma(r * r, detail::expm1_tail(r), r);
  const T s = scale_normal(T(N(1)), n - N(1), k - 1u);
  return copysign(select(k == 0, y, N(2) * fma(s, y, s - N(0.5))), x);
}

// 1 / (1 + e^-x), from e^-|x| so the negative side keeps its relative accuracy.
template <class T>
SHARDAX_SIMD T logistic(T x) {
  using N = number_of<T>;
  const T e = exp(-abs(x));
  return select(x < N(0), e, T(N(1))) / (N(1) + e);
}

// t / (t + 2) for t = e^2|x| - 1 = 2^k (1 + y) - 1, which is y itself where k = 0: small x keep
// their relative accuracy.
template <class T>
SHARDAX_SIMD T tanh(T x) {
  using N = number_of<T>;
  const T a = abs(x);
  const T twice = select(a > N(20), T(N(40)), N(2) * a);
  const auto [r, n, k] = detail::reduce_exp(twice);
  const T y = fma(r * r, detail::exp_tail(r), r);
  const T s = scale_normal(T(N(1)), n, k);
  const T t = fma(s, y, s - N(1));
  return copysign(t / (t + N(2)), x);
}

template <Single T>
SHARDAX_SIMD T sinh(T x) {
  const T a = abs(x);
  const T z = a * a;
  const T odd =
      fma(a * z, poly(z, 1.6666667e-01f, 8.3333105e-03f, 1.9842894e-04f, 2.7822286e-06f), a);
  const T h = detail::half_exp(a);
  return copysign(select(a < 1.0f, odd, h - 0.25f / h), x);
}
template <Wide T>
SHARDAX_SIMD T sinh(T x) {
  const T a = abs(x);
  const T t = expm1(select(a > 1.0, T(1.0), a));
  const T near = 0.5 * (t + t / (t + 1.0));
  const T h = detail::half_exp(a);
  return copysign(select(a < 1.0, select(a < 0x1p-26, a, near), h - 0.25 / h), x);
}

template <class T>
SHARDAX_SIMD T cosh(T x) {
  const T h = detail::half_exp(abs(x));
  return h + number_of<T>(0.25) / h;
}

}  // namespace shardax::simd
