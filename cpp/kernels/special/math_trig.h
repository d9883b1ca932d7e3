// kernels/special/math_trig.h - sin, cos and tan for arguments of any size.
#pragma once

#include <array>

#include "kernels/special/math_base.h"

// float: |x| below 2^44 is reduced modulo pi/2 in double (Cody and Waite 1980). A larger x is y 2^s
// with an integer y, and y (2^s mod 2 pi) is reduced instead. double: x 2/pi modulo 4 with 2/pi to
// 212 bits, taken from position 26 k of its expansion (Payne and Hanek 1983). Polynomials by
// Remez's exchange algorithm.
namespace shardax::simd {

namespace detail {

// x = q pi/2 + r (mod 2 pi), |r| <= pi/4, q modulo 4 in its low bits.
template <class T, class U>
struct Angle {
  T r;
  U q;
};

// p modulo pi/2: r, and t, whose low bits say how often that was taken from it.
template <class D>
SHARDAX_SIMD std::array<D, 2> reduce_product(D p) {
  const D t = fma(p, D(0x1.45f306dc9c883p-1), D(round_magic_d));
  const D n = t - round_magic_d;
  return {fma(n, D(-0x1.1a62633145c07p-54), fma(n, D(-0x1.921fb54442d18p+0), p)), t};
}
template <class D>
SHARDAX_SIMD std::array<D, 2> reduce_far(D a) {
  const D size = abs(a);
  D s = 1.0, t_hi = 1.0, t_lo = 0.0;
  s = select(size >= 0x1p44, 0x1p-21, s);
  t_hi = select(size >= 0x1p44, 0x1.58e8ec12c0aa8p-1, t_hi);
  t_lo = select(size >= 0x1p44, 0x1.95c955afd3e7bp-55, t_lo);
  s = select(size >= 0x1p65, 0x1p-42, s);
  t_hi = select(size >= 0x1p65, 0x1.abc6aacca5912p+0, t_hi);
  t_lo = select(size >= 0x1p65, -0x1.1b6f34f397eb5p-55, t_lo);
  s = select(size >= 0x1p86, 0x1p-63, s);
  t_hi = select(size >= 0x1p86, 0x1.8f1a5c3d52d34p+0, t_hi);
  t_lo = select(size >= 0x1p86, 0x1.ade7e21ae7526p-56, t_lo);
  s = select(size >= 0x1p107, 0x1p-84, s);
  t_hi = select(size >= 0x1p107, 0x1.2b5532bc0fd6bp+1, t_hi);
  t_lo = select(size >= 0x1p107, -0x1.75e080e9be09ap-54, t_lo);
  const D y = a * s;
  const D p = y * t_hi;
  const D p_lo = fma(y, t_lo, fma(y, t_hi, -p));
  const auto [r, t] = reduce_product(p);
  return {r + p_lo, t};
}
// The product of x itself is exact enough unless x is far.
template <Single T>
SHARDAX_SIMD auto reduce_for_float(T x) {
  const auto a = cast<double>(x);
  using D = std::remove_const_t<decltype(a)>;
  const auto [r, t] = with_slow_path(
      abs(x) < 0x1p44f, [&] { return reduce_product(a); }, [&] { return reduce_far(a); });
  const auto q = bits(t);
  return Angle<D, std::remove_const_t<decltype(q)>>{r, q};
}

template <Single T>
SHARDAX_SIMD T sin_poly(T r) {
  const T z = r * r;
  return fma(r * z, poly(z, -1.6666654e-01f, 8.332116e-03f, -1.9509914e-04f), r);
}
template <Single T>
SHARDAX_SIMD T cos_poly(T r) {
  const T z = r * r;
  const T p = poly(z, 4.1666646e-02f, -1.3887307e-03f, 2.443184e-05f);
  return fma(z * z, p, fma(T(-0.5f), z, T(1.0f)));
}
// r_lo is the part of the angle below r.
SHARDAX_SIMD double sin_poly(double r, double r_lo) {
  const double z = r * r;
  const double p = poly(z, -0.1666666666666663, 0.008333333333321856, -0.00019841269829378488,
                        2.7557313547230165e-06, -2.5050735965818947e-08, 1.5895534498837137e-10);
  return r + fma(r * z, p, fma(-0.5 * z, r_lo, r_lo));
}
SHARDAX_SIMD double cos_poly(double r, double r_lo) {
  const double z = r * r;
  const double p = poly(z, 0.041666666666666595, -0.0013888888888873385, 2.4801587289039115e-05,
                        -2.755731422810084e-07, 2.0875706764638767e-09, -1.1358807795414568e-11);
  const double h = 0.5 * z;
  const double c = 1.0 - h;
  return c + (((1.0 - c) - h) + fma(z * z, p, -r * r_lo));
}

// Row k: 2^(26 k) 2/pi modulo 4, as a sum of four doubles.
inline constexpr double two_over_pi[38][4] = {
    {0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55, -0x1.6447e493ad4cep-109, 0x1.e21c820ff28b2p-163},
    {0x1.b9391054a7f0ap+0, -0x1.505c1596447e5p-55, 0x1.b14acc9e21c82p-109, 0x1.fe5163abdebbcp-166},
    {0x1.529fc2757d1f5p+0, 0x1.a6ee06db14acdp-55, -0x1.8778df7c035d4p-109, 0x1.d5ef5de2b0db9p-163},
    {0x1.d5f47d4d37703p+0, 0x1.b6295993c4390p-54, 0x1.07f9458eaf7afp-108, -0x1.d4f246dc8e2dfp-165},
    {0x1.34ddc0db6295ap+0, -0x1.b0ef1bef806bap-54, -0x1.c5421443a9e49p-108, 0x1.2371d2126e970p-163},
    {-0x1.24eb53361de38p-1, 0x1.07f9458eaf7afp-56, -0x1.d4f246dc8e2dfp-113, 0x1.374b801924bbbp-168},
    {0x1.93c439041fe51p+0, 0x1.8eaf7aef1586ep-54, -0x1.b7238b7b645a4p-109, 0x1.924bba8274648p-170},
    {0x1.07f9458eaf7afp-4, -0x1.d4f246dc8e2dfp-61, 0x1.374b801924bbbp-116, -0x1.f62e6de301e21p-170},
    {0x1.63abdebbc561bp+0, 0x1.c91b8e909374cp-54, -0x1.ff9b6d115f62ep-108, -0x1.b78c0788538d4p-162},
    {-0x1.10ea79236e471p+0, -0x1.bdb22d1ff9b6dp-54, -0x1.15f62e6de301ep-110,
     -0x1.0a71a76b2c609p-165},
    {-0x1.1b7238b7b645ap-1, -0x1.ff9b6d115f62ep-56, -0x1.b78c0788538d4p-110,
     0x1.29a73ee88235fp-164},
    {-0x1.6f6c8b47fe6dbp+0, -0x1.115f62e6de302p-54, 0x1.deb1cb129a73fp-110,
     -0x1.77dca0ad144bbp-166},
    {-0x1.1ff9b6d115f63p+0, 0x1.921cfe1deb1cbp-56, 0x1.29a73ee88235fp-112, 0x1.4baed1213a672p-166},
    {0x1.77504e8c90e7fp-1, 0x1.deb1cb129a73fp-58, -0x1.77dca0ad144bbp-114, -0x1.ec598e3f652e8p-168},
    {0x1.1921cfe1deb1dp+0, -0x1.3b5963045df73p-54, 0x1.f52ebb4484e9ap-108, -0x1.c7eca5d040df6p-163},
    {-0x1.e214e34ed658cp-2, -0x1.177dca0ad144cp-58, 0x1.213a671c09ad1p-112, 0x1.f7e413991d63ap-166},
    {0x1.62534e7dd1047p-1, -0x1.0568a25dbd8b3p-55, -0x1.c7eca5d040df6p-111,
     -0x1.9b8a719f2b318p-166},
    {0x1.f74411afa975ep-1, -0x1.76f62cc71fb29p-55, -0x1.d040df633714ep-109,
     -0x1.9f2b3182d8defp-164},
    {-0x1.415a28976f62dp-1, 0x1.c7026b45f7e41p-56, 0x1.cc8eb1cc1a99dp-111, -0x1.6c6f740e8840ep-169},
    {-0x1.2edec598e3f65p+0, -0x1.741037d8cdc54p-55, 0x1.cc1a99cfa4e42p-109, 0x1.7e2ef7e4a0ec8p-164},
    {0x1.9c7026b45f7e4p+0, 0x1.3991d63983534p-56, -0x1.82d8dee81d108p-110, -0x1.b5f13801da001p-166},
    {-0x1.2e8206fb19b8ap+0, -0x1.c67cacc60b638p-54, 0x1.17e2ef7e4a0ecp-108, 0x1.ff897ffde0598p-162},
    {0x1.3991d63983534p-4, -0x1.82d8dee81d108p-58, -0x1.b5f13801da001p-114, 0x1.e05980fef2f12p-168},
    {0x1.8e60d4ce7d272p+0, 0x1.17e2ef7e4a0ecp-56, 0x1.ff897ffde0598p-110, 0x1.fde5e2316b415p-167},
    {-0x1.8c16c6f740e88p-1, -0x1.036be27003b40p-55, -0x1.0fd33f8086877p-115,
     -0x1.d297d64b824b2p-170},
    {-0x1.ee81d1081b5f1p+0, -0x1.c00ed00043f4dp-55, 0x1.fde5e2316b415p-115,
     -0x1.2e092c98130d8p-170},
    {-0x1.036be27003b40p-3, -0x1.0fd33f8086877p-63, -0x1.d297d64b824b2p-118,
     -0x1.8130d834f648bp-172},
    {-0x1.3801da00087eap+0, 0x1.80fef2f118b5ap-54, 0x1.4da3eda6cfd9ep-111, 0x1.3e584dba7a320p-165},
    {-0x1.0fd33f8086877p-11, -0x1.d297d64b824b2p-66, -0x1.8130d834f648bp-120,
     -0x1.738132c3402bap-177},
    {-0x1.9fc04343b9d29p+0, -0x1.f592e092c9813p-54, -0x1.b069ec9161738p-111,
     -0x1.32c3402ba515bp-167},
    {-0x1.0ee74a5f592e1p+0, 0x1.b4d9fb3c9f2c2p-54, 0x1.b74f463f669e6p-108, -0x1.5d28ad8453814p-168},
    {-0x1.7d64b824b2605p+0, 0x1.e4f96136e9e8cp-55, 0x1.fb34f2ff516bbp-109, -0x1.b08a7028341d1p-163},
    {-0x1.25930261b069fp-1, 0x1.b74f463f669e6p-56, -0x1.5d28ad8453814p-116,
     -0x1.a0e84c2f8c608p-172},
    {-0x1.86c1a7b24585dp-1, 0x1.fb34f2ff516bbp-57, -0x1.b08a7028341d1p-111, 0x1.9e839cfbc5295p-165},
    {0x1.36e9e8c7ecd3dp-1, -0x1.00ae9456c229cp-55, -0x1.41a0e84c2f8c6p-112,
     -0x1.0eb5ada2b2809p-169},
    {0x1.8fd9a797fa8b6p+0, -0x1.5b08a7028341dp-55, -0x1.30be31821d6b6p-112, 0x1.2ea6bfb5fb120p-166},
    {-0x1.a015d28ad8454p+0, 0x1.faf97c5ecf41dp-54, -0x1.821d6b5b45650p-110,
     -0x1.2813b81ca8bdfp-166},
    {0x1.d49eeb1faf97cp+0, 0x1.7b3d0739f78a5p-54, 0x1.497535fdafd89p-109, -0x1.ca8bdea7f33eep-168},
};

struct Angle2 {
  double r, r_lo;
  std::uint64_t q;
};
// With `near`, |x| < 2^78.
template <bool near>
SHARDAX_SIMD Angle2 reduce(double x) {
  std::uint64_t k = 0;
  if constexpr (!near) {
    const std::uint64_t exponent = (bits(x) >> 52) & 0x7ffu;
    // The smallest k that brings x below 2^78; x 2^(-26 k) is an integer where k > 0.
    k = (exponent < 1101u ? 0u : exponent - 1075u) * 2521u >> 16;
    k = k > 37u ? 37u : k;
  }
  const double* t = two_over_pi[k];
  const double y = near ? x : x * pow2(0u - 26u * k);
  const double p0 = y * t[0], p1 = y * t[1], p2 = y * t[2];
  const double e0 = fma(y, t[0], -p0), e1 = fma(y, t[1], -p1), e2 = fma(y, t[2], -p2);
  // Whole multiples of 4 drop out exactly.
  const double a = fma(-4.0, __builtin_rint(0.25 * p0), p0);
  const double b = fma(-4.0, __builtin_rint(0.25 * e0), e0);
  const double c = fma(-4.0, __builtin_rint(0.25 * p1), p1);
  // The sum, largest first, less its nearest integer.
  const double bc = b + c;
  const double bc_lo = (b - (bc - (bc - b))) + (c - (bc - b));
  const double abc = a + bc;
  const double abc_lo = (a - (abc - (abc - a))) + (bc - (abc - a));
  const double n0 = (abc + round_magic_d) - round_magic_d;
  const double g = abc - n0;
  const double low = abc_lo + bc_lo + e1 + (p2 + (e2 + y * t[3]));
  const double sum = g + low;
  const double n1_bits = sum + round_magic_d;
  const double n1 = n1_bits - round_magic_d;
  const double f = sum - n1;
  const double f_lo = (g - (sum - (sum - g))) + (low - (sum - g));
  const double r = f * 0x1.921fb54442d18p+0;
  const double r_lo =
      fma(f, 0x1.1a62633145c07p-54, fma(f, 0x1.921fb54442d18p+0, -r)) + f_lo * 0x1.921fb54442d18p+0;
  return {r, r_lo, bits(n0 + round_magic_d) + bits(n1_bits)};
}

}  // namespace detail

template <Single T>
SHARDAX_SIMD T sin(T x) {
  const auto [wide, q] = detail::reduce_for_float(x);
  const T r = cast<float>(wide);
  const auto n = cast<std::uint32_t>(q);
  const T y = select((n & 1u) == 0u, detail::sin_poly(r), detail::cos_poly(r));
  const T signed_y = from_bits(bits(y) ^ ((n & 2u) << 30));
  return select(x == 0.0f, x, signed_y);
}
template <Single T>
SHARDAX_SIMD T cos(T x) {
  const auto [wide, q] = detail::reduce_for_float(x);
  const T r = cast<float>(wide);
  const auto n = cast<std::uint32_t>(q) + 1u;
  const T y = select((n & 1u) == 0u, detail::sin_poly(r), detail::cos_poly(r));
  return from_bits(bits(y) ^ ((n & 2u) << 30));
}
template <Single T>
SHARDAX_SIMD T tan(T x) {
  const auto [r, q] = detail::reduce_for_float(x);
  using D = std::remove_const_t<decltype(r)>;
  const D z = r * r;
  const D s =
      fma(r * z, poly(z, -0.16666654464560998, 0.008332151407875191, -0.00019513989570251359), r);
  const D p = poly(z, 0.04166664663386596, -0.0013887355822600476, 2.443707078690234e-05);
  const D c = fma(z * z, p, fma(D(-0.5), z, D(1.0)));
  const auto even = (q & std::uint64_t{1}) == std::uint64_t{0};
  const T y = cast<float>(select(even, s, -c) / select(even, c, s));
  return select(x == 0.0f, x, y);
}

// `near` says that |x| < near_angle, where vectors do without tables.
inline constexpr double near_angle = 0x1p78;
template <bool near = false>
SHARDAX_SIMD double sin(double x) {
  const auto [r, r_lo, n] = detail::reduce<near>(x);
  const double y = (n & 1u) ? detail::cos_poly(r, r_lo) : detail::sin_poly(r, r_lo);
  const double signed_y = from_bits(bits(y) ^ ((n & 2u) << 62));
  return abs(x) < 0x1p-27 ? x : signed_y;
}
template <bool near = false>
SHARDAX_SIMD double cos(double x) {
  const auto [r, r_lo, q] = detail::reduce<near>(x);
  const std::uint64_t n = q + 1u;
  const double y = (n & 1u) ? detail::cos_poly(r, r_lo) : detail::sin_poly(r, r_lo);
  return from_bits(bits(y) ^ ((n & 2u) << 62));
}
template <bool near = false>
SHARDAX_SIMD double tan(double x) {
  const auto [r, r_lo, q] = detail::reduce<near>(x);
  const double s = detail::sin_poly(r, r_lo), c = detail::cos_poly(r, r_lo);
  const bool odd = (q & 1u) != 0;
  const double y = (odd ? -c : s) / (odd ? s : c);
  return abs(x) < 0x1p-27 ? x : y;
}

}  // namespace shardax::simd
