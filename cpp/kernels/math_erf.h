// kernels/math_erf.h - the error function, its complement and its inverse: erf erfc erf_inv.
#pragma once

#include "kernels/math_base.h"
#include "kernels/math_exp.h"
#include "kernels/math_log.h"

// Method: below 1, x + x p(x^2). Above, erfc(x) = e^(-x^2) g(t) / (1 + 2 x) with g a polynomial in
// t = (x - 2) / (x + 2), after M. Shepherd and J. Laframboise, "Chebyshev approximation of
// (1 + 2x) exp(x^2) erfc x", 1981. Float erf has eight pieces of equal length, each with a
// polynomial in the distance from its centre, which is chosen so that erf is nearly a float there.
// Polynomials by Remez's exchange algorithm unless cited.
namespace shardax::simd {

namespace detail {

// erf(x) = x + x p(x^2) for |x| <= 1.
template <class T>
SHARDAX_SIMD T erf_near_for_float(T x) {
  const T z = x * x;
  return fma(x,
             poly(z, 1.2837917e-01f, -3.7612626e-01f, 1.1283581e-01f, -2.685353e-02f, 5.187666e-03f,
                  -8.0035726e-04f, 7.829829e-05f),
             x);
}
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
// For 1 <= a <= 11, relative error 2^-29: with one division, erfc(a) = e^(-a^2) t g(t) for
// t = 1 / (a + 2.5).
template <Wide T>
SHARDAX_SIMD T erfc_far_for_float(T a) {
  const T t = 1.0 / (a + 2.5);
  const T g = poly(t, 0.5642070055890874, 1.40933346835155, 3.276424918150619, 6.179133728612591,
                   17.117293673251353, -17.563867582491035, 149.92182167717164, -352.10124270840726,
                   239.34423695847752);
  return exp_for_float(-a * a) * (g * t);
}

}  // namespace detail

// erf(c + u) = erf(c) + u p(u) in the piece around c, that around 0: u + u p(u).
template <Single T>
SHARDAX_SIMD T erf(T x) {
  using codegen::pick, codegen::Table;
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
  constexpr float per_unit = 1.9f, end = 3.94f;  // where erf is 1
  T a = abs(x);
  a = select(a > end, T(end), a);
  const auto piece = bits(fma(a, T(per_unit), T(round_magic_f)));
  const T u = a - pick(centre, piece);
  T p = pick(coefficients[6], piece);
  for (std::size_t i = 6; i-- > 0;) p = fma(p, u, pick(coefficients[i], piece));
  const T first = select(piece == bits(round_magic_f), a, pick(at_centre, piece));
  // What is computed has no sign.
  return from_bits(bits(fma(u, p, first)) | (bits(x) & 0x80000000u));
}
template <Wide T>
SHARDAX_SIMD T erf(T x) {
  const T a = abs(x);
  return copysign(select(a < 1.0, detail::erf_near(a), 1.0 - detail::erfc_far(a)), x);
}

// 1 - erf(x), with large x kept.
template <Single T>
SHARDAX_SIMD T erfc(T x) {
  const auto wide = cast<double>(x);
  using D = std::remove_const_t<decltype(wide)>;
  const D a = select(abs(wide) > 11.0, D(11.0), abs(wide));
  const D far = detail::erfc_far_for_float(a);
  const D beyond = select(wide < 0.0, 2.0 - far, far);
  return cast<float>(select(a < 1.0, 1.0 - detail::erf_near_for_float(wide), beyond));
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
