// ops/elementwise/complex_numbers.h - complex products, quotients and moduli, plain or of lanes.
#pragma once

#include <bit>
#include <limits>

#include "ops/elementwise/slow_path.h"

namespace shardax::ops {

inline constexpr auto complex_product = [](auto a, auto b) {
  using simd::fma;  // as compilers would choose to, or not
  return decltype(a)(fma(a.real(), b.real(), -(a.imag() * b.imag())),
                     fma(a.real(), b.imag(), a.imag() * b.real()));
};

inline constexpr auto near_div = [](double x, double y, double u, double v, float& a, float& b)
                                     SHARDAX_FAST_PATH {
                                       const double scale = 1 / (u * u + v * v);
                                       a = static_cast<float>((x * u + y * v) * scale);
                                       b = static_cast<float>((y * u - x * v) * scale);
                                       return are_finite(a, b);
                                     };

// |x + iy|: both are divided by the power of two below the larger, so that no square overflows or
// underflows harmfully. Infinite if x or y is.
inline constexpr auto size_of_parts = [](auto x, auto y) {
  using codegen::select, simd::abs, simd::bits, simd::fma, simd::from_bits, simd::sqrt;
  using T = codegen::number_of<decltype(x)>;
  using Limits = std::numeric_limits<T>;
  using Word = codegen::Word<T>;
  constexpr T infinity = Limits::infinity(), least = Limits::min(), most = Limits::max() / 4;
  constexpr Word exponent = std::bit_cast<Word>(infinity);
  constexpr Word one = std::bit_cast<Word>(T(1));
  const auto ax = abs(x), ay = abs(y);
  const auto larger = select(ax > ay, ax, ay);
  const auto above = select(larger > least, larger, least);
  const auto power = bits(select(above < most, above, most)) & exponent;
  const auto scale = from_bits(Word(2 * one) - power);
  const auto u = x * scale, v = y * scale;
  const auto size = sqrt(fma(u, u, v * v)) * from_bits(power);
  return select(ax == infinity || ay == infinity, infinity, size);
};

}  // namespace shardax::ops
