// kernels/special/hypergeometric.cpp - series, after the transformations under which their terms
// have one sign or fall quickly. The source is Pearson, Olver and Porter, "Numerical methods for
// the computation of the confluent and Gauss hypergeometric functions", 2017.
#include "kernels/special/hypergeometric.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/special/math.h"
#include "kernels/special/series.h"

namespace shardax::kernels {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_whole(double x) { return x == std::floor(x); }
bool ends_series(double x) { return x <= 0 && is_whole(x); }

struct Gamma {  // 1 / gamma(x) = sign * exp(-log); sign is 0 at poles
  double log, sign;
};
Gamma gamma_of(double x) {
  if (ends_series(x)) return {0, 0};
  const bool negative = x < 0 && std::fmod(std::floor(x), 2) != 0;
  return {simd::lgamma(x), negative ? -1.0 : 1.0};
}
// gamma(a) gamma(b) / (gamma(c) gamma(d)), 0 where c or d is a pole.
double gamma_ratio(double a, double b, double c, double d) {
  const Gamma p = gamma_of(a), q = gamma_of(b), r = gamma_of(c), s = gamma_of(d);
  const double sign = p.sign * q.sign * r.sign * s.sign;
  return sign == 0 ? 0 : sign * std::exp(p.log + q.log - r.log - s.log);
}

// ---- 1F1 -----------------------------------------------------------------------------------

template <class T>
T series_1f1(const T& a, const T& b, double x) {
  T term(1), sum(1);
  for (int k = 0; k < most_terms; ++k) {
    term *= (a + T(k)) / (b + T(k)) * T(x / (k + 1));
    sum += term;
    if (negligible(term, sum)) break;
    if (!std::isfinite(value_of(sum))) break;
  }
  return sum;
}

// For x < 0 by Kummer's transformation, e^x 1F1(b - a; b; -x), unless the series ends.
template <class T>
T confluent(const T& a, const T& b, double x) {
  if (x >= 0 || ends_series(value_of(a))) return series_1f1(a, b, x);
  return T(std::exp(x)) * series_1f1(b - a, b, -x);
}

// The sum of (p)_k (q)_k / (k! x^k) until its terms grow.
double falling_series(double p, double q, double x) {
  double term = 1, sum = 1;
  for (int k = 0; k < 200; ++k) {
    const double next = term * (p + k) * (q + k) / ((k + 1) * x);
    if (std::abs(next) > std::abs(term) || negligible(next, sum)) break;
    sum += term = next;
  }
  return sum;
}

// For large |x| (DLMF 13.7.2).
double large_1f1(double a, double b, double x) {
  if (x > 0) {
    const double scale = gamma_ratio(b, 1, a, 1);
    return scale * std::exp(x + (a - b) * std::log(x)) * falling_series(b - a, 1 - a, x);
  }
  return gamma_ratio(b, 1, b - a, 1) * std::pow(-x, -a) * falling_series(a, a - b + 1, -x);
}

// Parameter number k, to be derived by those of numbers i and j.
using SecondDual = DualOf<Dual>;
SecondDual parameter(double value, int k, int i, int j) {
  return {Dual(value, k == j), Dual(k == i, 0)};
}

// ---- 2F1 -----------------------------------------------------------------------------------

template <class T>
T series_2f1(const T& a, const T& b, const T& c, double x) {
  T term(1), sum(1);
  for (int k = 0; k < most_terms; ++k) {
    term *= (a + T(k)) * (b + T(k)) / (c + T(k)) * T(x / (k + 1));
    sum += term;
    if (negligible(term, sum)) break;
    if (!std::isfinite(value_of(sum))) break;
  }
  return sum;
}

// For x < 0 by Pfaff's transformation to x / (x - 1), unless the series ends.
template <class T>
T gauss_series(const T& a, const T& b, const T& c, double x) {
  if (x >= 0 || ends_series(value_of(a)) || ends_series(value_of(b))) {
    return series_2f1(a, b, c, x);
  }
  return pow(1 - x, -a) * series_2f1(a, c - b, c, x / (x - 1));
}

// In powers of 1 - x (Abramowitz and Stegun 15.3.6), where c - a - b is no whole number.
double gauss_near_one(double a, double b, double c, double x) {
  const double d = c - a - b, s = 1 - x;
  return gamma_ratio(c, d, c - a, c - b) * series_2f1(a, b, 1 - d, s) +
         std::pow(s, d) * gamma_ratio(c, -d, a, b) * series_2f1(c - a, c - b, 1 + d, s);
}

// The same where c = a + b + m for a whole m >= 0 (Abramowitz and Stegun 15.3.10, 15.3.11).
double gauss_near_one_whole(double a, double b, int m, double x) {
  const double c = a + b + m, s = 1 - x, log_s = std::log(s);
  double finite = 0, term = 1;
  for (int k = 0; k < m; ++k) {
    finite += term;
    term *= (a + k) * (b + k) * s / ((k + 1.0) * (1 - m + k == 0 ? 1 : 1 - m + k));
  }
  finite *= m == 0 ? 0 : gamma_ratio(m, c, a + m, b + m);
  double weight = gamma_ratio(c, 1, a, b) * std::pow(-s, m) / std::tgamma(m + 1.0), sum = 0;
  for (int k = 0; k < most_terms; ++k) {
    const double part = weight * (log_s - simd::digamma(k + 1.0) - simd::digamma(k + m + 1.0) +
                                  simd::digamma(a + k + m) + simd::digamma(b + k + m));
    sum += part;
    if (negligible(part, sum) && k > 2) break;
    weight *= (a + m + k) * (b + m + k) * s / ((k + 1.0) * (k + m + 1.0));
  }
  return finite - sum;
}

double gauss(double a, double b, double c, double x) {
  const double d = c - a - b;
  if (ends_series(a) || ends_series(b)) return series_2f1(a, b, c, x);
  if (x < 0) {
    // The one of a and b that leaves the smaller parameters goes to the front.
    const bool turn = std::abs(c - b) > std::abs(c - a);
    const double p = turn ? b : a, q = turn ? a : b;
    return std::pow(1 - x, -p) * gauss(p, c - q, c, x / (x - 1));
  }
  if (d < -1 || (d < 0 && ends_series(c - a)) || (d < 0 && ends_series(c - b))) {
    return std::pow(1 - x, d) * gauss(c - a, c - b, c, x);
  }
  if (x <= 0.9) return series_2f1(a, b, c, x);
  if (is_whole(d) && d >= 0) return gauss_near_one_whole(a, b, static_cast<int>(d), x);
  if (std::abs(d - std::round(d)) < 1e-3 && x < 0.9999) return series_2f1(a, b, c, x);
  return d == -1 ? std::pow(1 - x, d) * gauss(c - a, c - b, c, x) : gauss_near_one(a, b, c, x);
}

}  // namespace

double hypergeometric_1f1(double a, double b, double x) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(x)) return nan;
  if (a == 0 || x == 0) return 1;
  if (ends_series(b) && !(ends_series(a) && a > b)) return infinity;
  if (a == b) return std::exp(x);
  const double size = std::max({1.0, std::abs(a), std::abs(b)});
  if (std::abs(x) > 500 && std::abs(x) > size * size && !ends_series(a)) return large_1f1(a, b, x);
  return confluent(a, b, x);
}
double hypergeometric_1f1_by_a(double a, double b, double x) {
  return confluent(Dual(a, 1), Dual(b), x).slope;
}
double hypergeometric_1f1_by_b(double a, double b, double x) {
  return confluent(Dual(a), Dual(b, 1), x).slope;
}

double hypergeometric_1f1_by_two(double a, double b, double x, int i, int j) {
  return confluent(parameter(a, 0, i, j), parameter(b, 1, i, j), x).slope.slope;
}

double hypergeometric_2f1(double a, double b, double c, double x) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c) || std::isnan(x)) return nan;
  if (x == 0 || ((a == 0 || b == 0) && c != 0)) return 1;
  const bool ends = ends_series(a) || ends_series(b);
  if (ends_series(c)) {
    const bool before = (ends_series(a) && a > c) || (ends_series(b) && b > c);
    return before ? series_2f1(a, b, c, x) : infinity;
  }
  if (x > 1 && !ends) return infinity;
  if (x == 1 && !ends) {
    return c - a - b > 0 ? gamma_ratio(c, c - a - b, c - a, c - b) : infinity;
  }
  if (b == c && x < 1) return std::pow(1 - x, -a);
  if (a == c && x < 1) return std::pow(1 - x, -b);
  return gauss(a, b, c, x);
}
double hypergeometric_2f1_by_a(double a, double b, double c, double x) {
  return std::abs(x) < 1 || x < 0 ? gauss_series(Dual(a, 1), Dual(b), Dual(c), x).slope : nan;
}
double hypergeometric_2f1_by_c(double a, double b, double c, double x) {
  return std::abs(x) < 1 || x < 0 ? gauss_series(Dual(a), Dual(b), Dual(c, 1), x).slope : nan;
}

double hypergeometric_2f1_by_two(double a, double b, double c, double x, int i, int j) {
  if (!(std::abs(x) < 1 || x < 0)) return nan;
  return gauss_series(parameter(a, 0, i, j), parameter(b, 1, i, j), parameter(c, 2, i, j), x)
      .slope.slope;
}

}  // namespace shardax::kernels
