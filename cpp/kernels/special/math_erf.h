// kernels/special/math_erf.h - error function, complement and inverse: erf erfc erf_inv.
#pragma once

#include "kernels/special/math_base.h"
#include "kernels/special/math_exp.h"
#include "kernels/special/math_log.h"

// Method: below 1, x + x p(x^2). Above, erfc(x) = e^(-x^2) g(t) / (1 + 2 x) with g a polynomial in
// t = (x - 2) / (x + 2), after M. Shepherd and J. Laframboise, "Chebyshev approximation of
// (1 + 2x) exp(x^2) erfc x", 1981. Float erf and erfc have eight pieces, each with a polynomial in
// the distance from its centre. The centre is chosen so that the value there is nearly a float.
// Polynomials by Remez's exchange algorithm unless cited.
namespace shardax::simd {

namespace detail {

// erf(x) = x + x p(x^2) for |x| <= 1.
template <class T>
SHARDAX_SIMD T erf_near(T x) {
  const T z = x * x;
  return fma(x,
             poly(z, 0.12837916709551256, -0.37612638903183376, 0.11283791670938538,
                  -0.026866170642219786, 0.005223977598839117, -0.000854832558169516,
                  0.00012055283220694848, -1.4924514197664707e-05, 1.6444698686114719e-06,
                  -1.61877762266723e-07, 1.3631229696323015e-08, -7.631444374173135e-10),
             x);
}
// erfc(a) for a >= 1/2, zero from 28 on.
template <class T>
SHARDAX_SIMD T erfc_far(T a) {
  a = select(a > 28.0, T(28.0), a);
  const T t = (a - 2.0) / (a + 2.0);
  const T g = poly(t, 1.2769783815525286, -0.09276382658574601, -0.1660303976152479,
                   0.16405128003343078, -0.05422000099534413, -0.008034015080582801,
                   0.008722653978852477, 0.0012713388805464247, -0.001456815581861222,
                   -0.0004543390352515583, 0.0002063819632554635, 0.0001510187251116981,
                   -1.5886765817959632e-06, -3.6286590325010945e-05, -1.3250555329796383e-05,
                   3.159139333147114e-06, 4.86962036583631e-06, 2.818113126226787e-06,
                   -7.475085893109192e-07, -2.5150130301013798e-06, 5.896762257755651e-07,
                   9.660682618034075e-07, -6.382140716195401e-07, 1.307938072763558e-07);
  const T s = a * a;
  const T s_lo = fma(a, a, -s);
  const T q = g / (1.0 + 2.0 * a);
  return exp(-s) * fma(-s_lo, q, q);
}
}  // namespace detail

// erf(c + u) = erf(c) + u p(u) in the piece around c, that around 0: u + u p(u).
template <Single T>
SHARDAX_SIMD T erf(T x) {
  using codegen::table_lookup, codegen::Table;
  constexpr Table centre{0.0f,       0.5248516f, 1.0516632f, 1.5787874f,
                         2.1064093f, 2.6341822f, 3.1576076f, 3.6869786f};
  constexpr Table at_centre{0.0f,        0.5420655f, 0.86305815f, 0.9744341f,
                            0.99710727f, 0.9998049f, 0.999992f,   0.9999998f};
  constexpr Table coefficients[]{{0.12837917f, 0.8566833f, 0.37335962f, 0.09331377f, 0.013350814f,
                                  0.0010937605f, 5.2762825e-05f, 1.4084387e-06f},
                                 {2.545685e-07f, -0.44963107f, -0.39264882f, -0.14732267f,
                                  -0.028122196f, -0.002881162f, -0.00016661095f, -6.705593e-06f},
                                 {-0.3761372f, -0.12823723f, 0.1508366f, 0.12395663f, 0.035041027f,
                                  0.004695055f, 0.00033313097f, 1.2174668e-05f},
                                 {0.00016632528f, 0.18348014f, 0.05159379f, -0.04873689f,
                                  -0.027538724f, -0.00522363f, -0.00046984619f, 3.732627e-05f},
                                 {0.11170479f, 2.3277735e-05f, -0.06694406f, -0.00642345f,
                                  0.012687661f, 0.0040967925f, 0.0004939859f, 3.6449237e-05f},
                                 {0.0033827943f, -0.047688913f, 0.009030073f, 0.01621417f,
                                  -0.0013776845f, -0.0021991949f, -0.00040855992f, -0.0005899665f},
                                 {-0.030075254f, 0.0064726006f, 0.012869372f, -0.005576041f,
                                  -0.0021304626f, 0.0006573509f, 0.00024254837f, -0.000111239606f}};
  constexpr float per_unit = 1.9f, end = 3.94f;  // erf is 1 from `end` on
  T a = abs(x);
  a = select(a > end, T(end), a);
  const auto piece = bits(fma(a, T(per_unit), T(round_magic_f)));
  const T u = a - table_lookup(centre, piece);
  T p = table_lookup(coefficients[6], piece);
  for (std::size_t i = 6; i-- > 0;) p = fma(p, u, table_lookup(coefficients[i], piece));
  const T first = select(piece == bits(round_magic_f), a, table_lookup(at_centre, piece));
  // The result so far has no sign.
  return from_bits(bits(fma(u, p, first)) | (bits(x) & 0x80000000u));
}
template <Wide T>
SHARDAX_SIMD T erf(T x) {
  const T a = abs(x);
  return copysign(select(a < 1.0, detail::erf_near(a), 1.0 - detail::erfc_far(a)), x);
}

// 1 - erf(x), with large x kept: e^(-x^2) q(x), where q = q(c) + u p(u) in eight pieces whose ends
// grow by about 1.4. The rounding errors of q and the square are added to a small number later on.
template <Single T>
SHARDAX_SIMD T erfc(T x) {
  using codegen::table_lookup, codegen::Table;
  constexpr Table centre{0.0f,       0.47387198f, 0.9482227f, 1.6267772f,
                         2.5687106f, 3.9277592f,  5.841335f,  8.484391f};
  constexpr Table at_centre{1.0f,        0.6293352f,  0.44215488f, 0.3020019f,
                            0.20581311f, 0.13937847f, 0.09522847f, 0.06604478f};
  constexpr Table coefficients[]{
      {-1.1283791f, -0.5319305f, -0.28985658f, -0.14579959f, -0.07103055f, -0.033489015f,
       -0.015856402f, -0.0076797055f},
      {0.9999955f, 0.37726828f, 0.16730635f, 0.06481856f, 0.023356253f, 0.007841732f, 0.0026059314f,
       0.0008871604f},
      {-0.75214094f, -0.23543665f, -0.0874746f, -0.026903026f, -0.007356782f, -0.0017925026f,
       -0.00042290543f, -0.000101824226f},
      {0.4986793f, 0.13284282f, 0.042174418f, 0.010522036f, 0.0022280097f, 0.00040017674f,
       6.7737186e-05f, 1.1599731e-05f},
      {-0.2926426f, -0.06896135f, -0.01900522f, -0.0039099073f, -0.0006523245f, -8.758823e-05f,
       -1.0729762e-05f, -1.3168468e-06f},
      {0.13862689f, 0.033835422f, 0.008217352f, 0.0014372851f, 0.00019244022f, 1.985848e-05f,
       1.7759245e-06f, 1.5766611e-07f},
      {-0.036387853f, -0.015648372f, -0.0031956618f, -0.00048729504f, -5.166562e-05f,
       -4.132039e-06f, -2.7737255e-07f, -1.7096168e-08f}};
  constexpr float per_unit = 1.84375f, start = 1.25f, end = 10.125f;  // erfc is 0 from `end` on
  T a = abs(x);
  const auto zero = a > end;
  a = select(zero, T(0.0f), a);
  // From `start` on, the first bit after the point doubles the pieces.
  const auto piece = ((bits(fma(a, T(per_unit), T(start))) - bits(start)) >> 22) & 7u;
  const T u = a - table_lookup(centre, piece);
  T p = table_lookup(coefficients[6], piece);
  for (std::size_t i = 6; i-- > 0;) p = fma(p, u, table_lookup(coefficients[i], piece));
  const T first = table_lookup(at_centre, piece);
  const T q = fma(u, p, first);
  const T q_low = fma(u, p, first - q);
  const T s = a * a;
  const T s_low = fma(a, a, -s);
  using L = detail::Logarithms<T>;
  const T t = fma(-s, T(L::log2_of_e), T(L::magic));
  const T n = t - L::magic;
  const T r = fma(n, T(-L::high), -s) + fma(n, T(-L::low), -s_low);
  const T tail = fma(r * r, detail::exp_tail(r), r);
  const T scaled = scale(q + fma(q, tail, q_low), n, bits(t) - bits(L::magic));
  const T far = select(zero, T(0.0f), scaled);
  return select(x < 0.0f, 2.0f - far, far);
}
template <Wide T>
SHARDAX_SIMD T erfc(T x) {
  const T a = abs(x);
  const T far = detail::erfc_far(a);
  return select(a < 0.5, 1.0 - detail::erf_near(x), select(x < 0.0, 2.0 - far, far));
}

// The y with erf(y) = x, for |x| <= 1; infinite at the ends. The coefficients and the argument
// w = -log(1 - x x), with x x rounded, are those of M. Giles, "Approximating the erfinv function",
// GPU Computing Gems, 2010.
template <Single T>
SHARDAX_SIMD T erf_inv(T x) {
  const T w = -log1p(-x * x);
  const auto middle = w < 5.0f;
  const T t = select(middle, w - 2.5f, sqrt(w) - 3.0f);
  const auto either = [&](float yes, float no) { return select(middle, T(yes), T(no)); };
  const T p =
      poly(t, either(1.50140941f, 2.83297682f), either(0.246640727f, 1.00167406f),
           either(-0.00417768164f, 0.00943887047f), either(-0.00125372503f, -0.0076224613f),
           either(0.00021858087f, 0.00573950773f), either(-4.39150654e-06f, -0.00367342844f),
           either(-3.5233877e-06f, 0.00134934322f), either(3.43273939e-07f, 0.000100950558f),
           either(2.81022636e-08f, -0.000200214257f));
  return select(abs(x) == 1.0f, x * inf_f, p * x);
}
// The same form, fitted anew in three ranges of w = -log((1 - x) (1 + x)).
template <Wide T>
SHARDAX_SIMD T erf_inv(T x) {
  const T w = -log((1.0 - abs(x)) * (1.0 + abs(x)));
  const T root = sqrt(w);
  const T low = poly(w - 3.125, 1.6536545626831027, 0.2401581824255883, -0.006033670871427523,
                     -0.0007407025341543847, 0.0001867342080230591, -1.3882523394617941e-05,
                     -1.365469182051078e-06, 4.2347881760367983e-07, -2.907038520619042e-08,
                     -4.112660952125015e-09, 1.0512198537123555e-09, -5.414282506975777e-11,
                     -1.2977508358555446e-11, 2.630472896124498e-12, -8.103362617021324e-14,
                     -4.0010838123001375e-14, 6.572170981302839e-15, -4.0425025441041e-17,
                     -1.2758717467023949e-16, 1.5582387539781045e-17, 9.754623990431134e-19,
                     -3.502077569779055e-19, 5.669359111055395e-21, 3.2437385701195265e-21,
                     -1.1536310559958817e-22);
  const auto middle = w < 16.0;
  const auto either = [&](double yes, double no) { return select(middle, T(yes), T(no)); };
  const T high = poly(root - (either(3.25, 5.0)), either(3.0838856104922208, 4.8499064014085835),
                      either(1.0052589676941652, 1.0103004648645406),
                      either(0.005370914553545805, -0.00013871931831794642),
                      either(-0.0037512085082243045, -0.00021503011943853356),
                      either(0.0024914420979930776, 7.599527675616615e-05),
                      either(-0.001688275535146544, -1.96817770640368e-05),
                      either(0.0009532893474736708, 4.526064496289316e-06),
                      either(-0.00035503782117967986, -9.929864096566905e-07),
                      either(2.40313927973735e-05, 2.2899806505965634e-07),
                      either(6.828719182357755e-05, -6.770519239893668e-08),
                      either(-4.731963448532853e-05, 2.916108585719422e-08),
                      either(1.246463092237013e-05, -1.496671971082872e-08),
                      either(2.927585580227234e-06, 7.601649845651926e-09),
                      either(-3.9844885237421064e-06, -3.78622017185267e-09),
                      either(1.4955931318390074e-06, 1.515395992655249e-09),
                      either(-2.9768347854713856e-08, -2.561503664404995e-10),
                      either(-2.684960286090808e-07, -2.88147421943652e-11),
                      either(1.336256293840682e-07, 0.0), either(-3.9339961751606784e-10, 0.0),
                      either(-1.61084783501672e-08, 0.0));
  const T y = x * select(w < 6.25, low, high);
  return select(abs(x) == 1.0, x * inf_d, y);
}

}  // namespace shardax::simd
