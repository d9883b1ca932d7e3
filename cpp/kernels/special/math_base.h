// kernels/special/math_base.h - bit access, fused multiply-add and polynomials.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "codegen/vector/lane.h"

// Functions that are templates take lanes too, and write machine code (codegen/vector/lane.h).
#define SHARDAX_SIMD [[gnu::always_inline]] inline

namespace shardax::simd {

inline constexpr float inf_f = std::numeric_limits<float>::infinity();
inline constexpr double inf_d = std::numeric_limits<double>::infinity();
inline constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();
inline constexpr double nan_d = std::numeric_limits<double>::quiet_NaN();

// Adding and subtracting one of these rounds to an integer. Its two's complement is then in the low
// bits of the sum: |x| < 2^22 for float, 2^51 for double.
inline constexpr float round_magic_f = 0x1.8p23f;
inline constexpr double round_magic_d = 0x1.8p52;

inline constexpr double ln2_hi = 0x1.62e42fefa39efp-1, ln2_lo = 0x1.abc9e3b39803fp-56;
inline constexpr double log2e = 0x1.71547652b82fep0, log2e_lo = 0x1.777d0ffda0d24p-56;
inline constexpr double log10e = 0x1.bcb7b1526e50ep-2, log10e_lo = 0x1.95355baaafad3p-57;
inline constexpr double log10_2_hi = 0x1.34413509f79ffp-2, log10_2_lo = -0x1.9dc1da994fd21p-59;
inline constexpr double pi_hi = 0x1.921fb54442d18p1, pi_lo = 0x1.1a62633145c07p-53;
inline constexpr float ln2_hi_f = 0x1.62e43p-1f, ln2_lo_f = -0x1.05c61p-29f;
inline constexpr float log2e_f = 0x1.715476p0f, log2e_lo_f = 0x1.4ae0cp-26f;
inline constexpr float log10e_f = 0x1.bcb7b2p-2f, log10e_lo_f = -0x1.5b235ep-27f;
inline constexpr float log10_2_hi_f = 0x1.344136p-2f, log10_2_lo_f = -0x1.ec10cp-27f;
inline constexpr float pi_hi_f = 0x1.921fb6p1f, pi_lo_f = -0x1.777a5cp-24f;

SHARDAX_SIMD std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
SHARDAX_SIMD std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
SHARDAX_SIMD float from_bits(std::uint32_t x) { return std::bit_cast<float>(x); }
SHARDAX_SIMD double from_bits(std::uint64_t x) { return std::bit_cast<double>(x); }

SHARDAX_SIMD float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SHARDAX_SIMD double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
SHARDAX_SIMD float abs(float x) { return __builtin_fabsf(x); }
SHARDAX_SIMD double abs(double x) { return __builtin_fabs(x); }
SHARDAX_SIMD float copysign(float x, float s) { return __builtin_copysignf(x, s); }
SHARDAX_SIMD double copysign(double x, double s) { return __builtin_copysign(x, s); }
SHARDAX_SIMD float sqrt(float x) { return __builtin_sqrtf(x); }
SHARDAX_SIMD double sqrt(double x) { return __builtin_sqrt(x); }
SHARDAX_SIMD float floor(float x) { return __builtin_floorf(x); }
SHARDAX_SIMD double rint(double x) { return __builtin_rint(x); }

SHARDAX_SIMD std::uint32_t shift_right_signed(std::uint32_t x, int n) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(x) >> n);
}
SHARDAX_SIMD float signed_to_float(std::uint32_t x) {
  return static_cast<float>(static_cast<std::int32_t>(x));
}

using codegen::cast;
using codegen::number_of;
using codegen::select;
using codegen::with_slow_path;
// Is T a number of 32 bits?
template <class T>
inline constexpr bool is_single = sizeof(number_of<T>) == 4;
template <class T>
concept Single = is_single<T>;
template <class T>
concept Wide = !is_single<T>;

// c0 + x (c1 + x (c2 + ...)), one fused multiply-add a coefficient.
template <class T>
SHARDAX_SIMD T poly(T, std::type_identity_t<T> c0) {
  return c0;
}
template <class T, class... C>
SHARDAX_SIMD T poly(T x, std::type_identity_t<T> c0, C... c) {
  return fma(poly(x, static_cast<T>(c)...), x, c0);
}

// 2^k for an integer k in [-126, 127] (float) or [-1022, 1023] (double), in two's complement.
template <class U>
SHARDAX_SIMD auto pow2(U k) {
  if constexpr (is_single<U>)
    return from_bits((k + 127u) << 23);
  else
    return from_bits((k + 1023u) << 52);
}

// Powers of two take the number n and the same as an integer k: machine code may have an
// instruction for the former (codegen/vector/lane.h).
template <class T>
inline constexpr bool is_lane = !std::is_same_v<T, number_of<T>>;

// x 2^n for n in [-126, 127] (float) or [-1022, 1023] (double).
template <class T, class U>
SHARDAX_SIMD T scale_normal(T x, T n, U k) {
  if constexpr (is_lane<T>)
    return codegen::scaled(x, n, true);
  else
    return x * pow2(k);
}

// x 2^n for n in [-252, 254] (float) or [-2044, 2046] (double), rounded once.
template <class T, class U>
SHARDAX_SIMD T scale(T x, T n, U k) {
  if constexpr (is_lane<T>) {
    return codegen::scaled(x, n, false);
  } else {
    const U half = [&] {
      if constexpr (is_single<U>)
        return shift_right_signed(k, 1);
      else
        return ((k + 4096u) >> 1) - 2048u;
    }();
    return x * pow2(half) * pow2(k - half);
  }
}

// Splits a positive normal x into m 2^e with m in [sqrt(1/2), sqrt(2)).
template <class T>
struct Split {
  T m;
  T e;
};
template <class T>
SHARDAX_SIMD Split<T> split(T x) {
  if constexpr (is_single<T>) {
    constexpr std::uint32_t root = 0x3f3504f3u;
    const auto offset = bits(x) - root;
    const T e = signed_to_float(shift_right_signed(offset, 23));
    return {from_bits((offset & 0x007fffffu) + root), e};
  } else {  // without signed 64-bit shifts and conversions, which AVX2 lacks
    constexpr std::uint64_t root = 0x3fe6a09e667f3bcdu;
    const auto offset = bits(x) - root;
    const auto biased = (offset + (std::uint64_t{1024} << 52)) >> 52;
    const T e = from_bits(biased | std::uint64_t{0x4330000000000000}) - (0x1p52 + 1024.0);
    return {from_bits((offset & std::uint64_t{0x000fffffffffffff}) + root), e};
  }
}

}  // namespace shardax::simd
