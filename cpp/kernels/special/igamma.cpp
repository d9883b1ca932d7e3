// kernels/special/igamma.cpp - the incomplete gamma function and its derivative by its parameter.
//
// Five ways share the plane. They are the series of the lower share up to the mean, and the
// continued fraction of the upper one beyond (DLMF 8.7.1, 8.9.2). The others are the series of a
// small share's complement, the uniform expansion of large parameters about their mean (DLMF 8.12),
// and limits at the edges.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/special/igamma_prefactor.h"
#include "kernels/special/integrals.h"
#include "kernels/special/math.h"
#include "kernels/special/special.h"

namespace shardax::kernels {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = 1e-17;

// log gamma(2 + b) / b for |b| <= 0.5, c_k = (-1)^k (zeta(k + 1) - 1) / (k + 1) but for the first.
// Even and odd powers are two sums, which are computed side by side; of float32 the first sixteen.
double log_gamma_2p_share(double b, bool single) {
  constexpr std::array c{0.42278433509846714,     0.32246703342411322,
                         -0.067352301053198095,   0.020580808427784548,
                         -0.0073855510286739853,  0.0028905103307415233,
                         -0.001192753911703261,   0.00050966952474304242,
                         -0.00022315475845357938, 9.9457512781808534e-5,
                         -4.4926236738133142e-5,  2.0507212775670692e-5,
                         -9.4394882752683959e-6,  4.3748667899074878e-6,
                         -2.0392157538013662e-6,  9.5514121304074198e-7,
                         -4.492469198764566e-7,   2.1207184805554666e-7,
                         -1.00432248239681e-7,    4.7698101693639806e-8,
                         -2.2711094608943165e-8,  1.0838659214896954e-8,
                         -5.1834750419700467e-9,  2.4836745438024783e-9,
                         -1.1921401405860912e-9,  5.731367241678862e-10,
                         -2.7595228851242331e-10, 0.0};
  const double square = b * b;
  double even = 0, odd = 0;
  for (size_t i = single ? 16 : c.size(); i > 0; i -= 2) {
    odd = odd * square + c[i - 1];
    even = even * square + c[i - 2];
  }
  return even + b * odd;
}

// log gamma(1 + a) for 0 <= a.
double log_gamma_1p(double a, bool single) {
  if (a > 1.5) return simd::lgamma(1 + a);
  if (a > 0.5) return (a - 1) * log_gamma_2p_share(a - 1, single);
  return a * log_gamma_2p_share(a, single) - std::log1p(a);
}

// ---- the uniform expansion
// -----------------------------------------------------------------------

constexpr double large = 100;
bool is_uniform(double a, double x) { return a >= large && std::abs(x - a) <= 0.3 * a; }

// With m = (x - a) / a and eta^2 / 2 = m - log(1 + m), eta has m's sign. The upper share is
// erfc(eta sqrt(a/2)) / 2 + e^(-a eta^2 / 2) / sqrt(2 pi a) sum_k c_k(eta) a^-k. The c_k are the
// power series of DLMF 8.12.10 and 8.12.11: terms above 2e-17 for a >= 100 and |eta| <= 0.34.
constexpr std::array c0{-0.3333333333333333,    0.08333333333333333,     -0.014814814814814815,
                        0.0011574074074074073,  0.0003527336860670194,   -0.0001787551440329218,
                        3.919263178522438e-05,  -2.185448510679992e-06,  -1.85406221071516e-06,
                        8.296711340953087e-07,  -1.7665952736826078e-07, 6.707853543401498e-09,
                        1.0261809784240309e-08, -4.382036018453353e-09,  9.14769958223679e-10};
constexpr std::array c1{-0.001851851851851852,   -0.003472222222222222,  0.0026455026455026454,
                        -0.0009902263374485596,  0.00020576131687242798, -4.018775720164609e-07,
                        -1.8098550334489977e-05, 7.64916091608111e-06,   -1.6120900894563446e-06,
                        4.647127802807434e-09,   1.378633446915721e-07,  -5.752545603517705e-08,
                        1.1951628599778148e-08};
constexpr std::array c2{0.004133597883597883,    -0.0026813271604938273, 0.0007716049382716049,
                        2.0093878600823047e-06,  -0.0001073665322636516, 5.2923448829120125e-05,
                        -1.2760635188618728e-05, 3.423578734096138e-08,  1.3721957309062934e-06,
                        -6.298992138380055e-07,  1.4280614206064242e-07};
constexpr std::array c3{0.0006494341563786008,  0.00022947209362139917,  -0.0004691894943952557,
                        0.00026772063206283885, -7.561801671883977e-05,  -2.396505113867297e-07,
                        1.1082654115347302e-05, -5.6749528269915965e-06, 1.4230900732435883e-06};
constexpr std::array c4{-0.0008618882909167117,  0.0007840392217200666, -0.0002990724803031902,
                        -1.4638452578843418e-06, 6.641498215465122e-05, -3.968365047179435e-05,
                        1.1375726970678419e-05};
constexpr std::array c5{-0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392,
                        -0.00019932570516188847, 6.797780477937208e-05};
constexpr std::array c6{0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045};
constexpr std::array<std::span<const double>, 7> uniform_series{c0, c1, c2, c3, c4, c5, c6};

struct Uniform {
  double a, m, log_ratio, eta, sum;
  Uniform(double a, double x) : a(a), m((x - a) / a), log_ratio(log_ratio_less(x, a, m)) {
    eta = std::copysign(std::sqrt(-2 * log_ratio), m);
    sum = 0;
    for (size_t k = uniform_series.size(); k-- > 0;) {
      sum = sum / a + polynomial(uniform_series[k], eta);
    }
  }
  // e^(-a eta^2 / 2) / sqrt(2 pi a)
  double density() const { return std::exp(a * log_ratio) / std::sqrt(2 * std::numbers::pi * a); }

  double share(bool upper) const {
    // The smaller tail has its factor, so that it keeps its digits; the other one is the rest.
    const double tail = 0.5 * erfcx(std::abs(eta) * std::sqrt(a / 2)) * std::exp(a * log_ratio);
    const double small = tail + (m >= 0 ? sum : -sum) * density();
    return upper == (m >= 0) ? small : 1 - small;
  }

  // The derivative of the lower share by a, as a multiple of the density. By a, the exponent -a
  // eta^2 / 2 has the derivative log(x / a), eta has -m / (a eta).
  double by_a() const {
    const double quotient = std::abs(eta) < 1e-9 ? 1.0 : m / eta;
    double slope = 0;  // of the sum
    for (size_t k = uniform_series.size(); k-- > 0;) {
      const std::span<const double> c = uniform_series[k];
      double by_eta = 0;
      for (size_t i = c.size(); i-- > 1;) by_eta = by_eta * eta + static_cast<double>(i) * c[i];
      slope = slope / a - (static_cast<double>(k) * polynomial(c, eta) + by_eta * quotient) / a;
    }
    return eta / 2 - quotient - (std::log1p(m) - 0.5 / a) * sum - slope;
  }
};

// ---- the series and the fraction
// -----------------------------------------------------------------

// The lower share over gamma_scale.
double lower_sum(double a, double x, double tolerance) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < most_terms && term > tolerance * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

// A number and its first two derivatives.
struct Curve {
  double value, slope, bend;
  Curve(double v = 0, double s = 0, double b = 0) : value(v), slope(s), bend(b) {}
  Curve& operator*=(const Curve& o) {
    return *this = {value * o.value, slope * o.value + value * o.slope,
                    bend * o.value + 2 * slope * o.slope + value * o.bend};
  }
};
Curve operator-(const Curve& x) { return {-x.value, -x.slope, -x.bend}; }
Curve operator+(const Curve& x, const Curve& y) {
  return {x.value + y.value, x.slope + y.slope, x.bend + y.bend};
}
Curve operator-(const Curve& x, const Curve& y) { return x + -y; }
Curve operator*(Curve x, const Curve& y) { return x *= y; }
Curve operator/(const Curve& x, const Curve& y) {
  const double value = x.value / y.value, slope = (x.slope - value * y.slope) / y.value;
  return {value, slope, (x.bend - 2 * slope * y.slope - value * y.bend) / y.value};
}
Curve away_from_zero(const Curve& x) { return {kernels::away_from_zero(x.value), x.slope, x.bend}; }
bool changes_nothing(const Curve& factor, const Curve& value, double) {
  return std::abs(factor.value - 1) < 1e-15 &&
         std::abs(factor.slope * value.value) <= 1e-15 * std::abs(value.slope) &&
         std::abs(factor.bend * value.value) <= 1e-14 * std::abs(value.bend);
}

// gamma_scale over the upper share.
template <class T>
T upper_fraction(T a, T x, double tolerance) {
  const auto terms = [&](int i) {
    const T n(i);
    return Term<T>{-n * (n - a), x + T(1) - a + T(2.0 * i)};
  };
  return continued_fraction(x + T(1) - a, terms, tolerance);
}

// The derivative of digamma, for 0 < x: DLMF 5.15.8, from 12 on.
double trigamma(double x) {
  double sum = 0;
  for (; x < 12; ++x) sum += 1 / (x * x);
  const double square = 1 / (x * x);
  constexpr std::array c{1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};
  return sum + 1 / x + square / 2 + square / x * polynomial(std::span<const double>(c), square);
}

// 1 / n
constexpr auto reciprocals = [] {
  std::array<double, 64> result{};
  for (int n = 1; n < 64; ++n) result[static_cast<size_t>(n)] = 1.0 / n;
  return result;
}();

// The upper share for small a and x: 1 - x^a / gamma(1 + a) is small too.
double upper_near_zero(double a, double x, bool single, double tolerance) {
  double term = 1, sum = 0;
  for (size_t n = 1; n < reciprocals.size(); ++n) {
    term *= -x * reciprocals[n];
    sum += term / (a + static_cast<double>(n));
    if (std::abs(term) < tolerance * std::abs(sum)) break;
  }
  const double less = std::expm1(a * std::log(x) - log_gamma_1p(a, single));
  return -less - a * (1 + less) * sum;
}

// The lower share for a <= 1, where no terms of the exponent cancel.
double lower_near_zero(double a, double x, bool single, double tolerance) {
  const double rest = -x - log_gamma_1p(a, single);
  const double scale = single ? std::exp(a * std::log(x) + rest) : std::pow(x, a) * std::exp(rest);
  double term = 1, sum = 1;
  for (int n = 1; term > tolerance * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return scale * sum;
}

}  // namespace

double igamma(double a, double x, bool upper, bool single) {
  if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0)) return nan;
  if (a == 0) return upper ? 0 : 1;
  if (a == infinity) return x == infinity ? nan : (upper ? 1 : 0);
  if (x == 0) return upper ? 1 : 0;
  if (x == infinity) return upper ? 0 : 1;
  if (is_uniform(a, x)) return Uniform(a, x).share(upper);
  const double tolerance = single ? 1e-10 : epsilon;
  if (x <= 1.1 && a <= 1) {
    if (upper) return upper_near_zero(a, x, single, tolerance);
    return lower_near_zero(a, x, single, tolerance);
  }
  if (x < a + 1) {
    const double share = gamma_scale(a, x) * lower_sum(a, x, tolerance);
    return upper ? 1 - share : share;
  }
  const double share = gamma_scale(a, x) / upper_fraction(a, x, single ? 1e-9 : 1e-16);
  return upper ? share : 1 - share;
}

// P(a, x) is a sum of x^(a+n) e^-x / gamma(a+n+1). Divided by its derivative by x, term n is r with
// r_0 = x / a, r_n = r_(n-1) x / (a+n). Its logarithm's derivative by a is log x - digamma(a+n+1).
// The upper share has a factor whose logarithm has that derivative for n = 0, and the fraction.
double gamma_slope(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return nan;
  if (x == 0) return 0;
  if (x == infinity) return infinity;
  if (is_uniform(a, x)) {
    return -Uniform(a, x).by_a() * std::exp(stirling_rest(a)) * (x / a);
  }
  const double log_x = std::log(x);
  if (x > a + 1 && x > 2) {
    const Dual fraction = upper_fraction<Dual>({a, 1}, {x, 0}, 1e-15);
    return (log_x - simd::digamma(a) - fraction.slope / fraction.value) * (x / fraction.value);
  }
  double term = x / a, order = a + 1, psi = simd::digamma(order), sum = 0;
  for (int n = 0; n < most_terms; ++n) {
    const double part = term * (psi - log_x);
    sum += part;
    if (order > x && std::abs(part) < epsilon * std::abs(sum)) break;
    psi += 1 / order;
    term *= x / order;
    order += 1;
  }
  return sum;
}

// As gamma_slope, with its terms' derivatives.
double gamma_slope_by_a(double a, double x) {
  if (!(a > 0) || !(x >= 0) || x == infinity) return nan;
  if (x == 0) return 0;
  // Large variates are x = a + z sqrt(a) + ..., whose derivative is (1 + x / a) / 2.
  if (a > 1e8) return -0.5 * x / (a * a);
  const double log_x = std::log(x);
  if (x > a + 1 && x > 2) {
    const auto f = upper_fraction<Curve>({a, 1}, {x}, 1e-15);
    const double slope = f.slope / f.value, rest = log_x - simd::digamma(a) - slope;
    const double rest_by_a = -trigamma(a) - (f.bend / f.value - slope * slope);
    return (rest_by_a - rest * slope) * (x / f.value);
  }
  Dual term = Dual(x) / Dual(a, 1), order(a + 1, 1), sum;
  Dual psi(simd::digamma(a + 1), trigamma(a + 1));
  for (int n = 0; n < most_terms; ++n) {
    const Dual part = term * (psi - Dual(log_x));
    sum += part;
    if (order.value > x && negligible(part, sum)) break;
    psi += Dual(1) / order;
    term *= Dual(x) / order;
    order += 1;
  }
  return sum.slope;
}

double igamma_by_a(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return nan;
  if (x == 0 || x == infinity) return 0;
  if (is_uniform(a, x)) {
    const Uniform u(a, x);
    return u.by_a() * u.density();
  }
  const double scale = gamma_scale(a, x);
  return scale == 0 ? 0 : -gamma_slope(a, x) * (scale / x);
}

}  // namespace shardax::kernels
