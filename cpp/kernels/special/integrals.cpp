// kernels/special/integrals.cpp - exponential, sine, cosine, Fresnel's, Spence's and Owen's
// integrals.
#include "kernels/special/integrals.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/index.h"
#include "kernels/special/series.h"

namespace shardax::kernels {
namespace {

using Complex = std::complex<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = std::numbers::pi;
constexpr double euler = std::numbers::egamma;

// Sum of x^k / (k k!) over k > 0 (Abramowitz and Stegun 5.1.10).
double exponential_series(double x) {
  double power = 1, sum = 0;
  for (int k = 1; k < most_terms; ++k) {
    power *= x / k;
    const double part = power / k;
    sum += part;
    if (k > std::abs(x) && negligible(part, sum)) break;
  }
  return sum;
}

// For x > 1 (Abramowitz and Stegun 5.1.22, its even part).
double exponential_fraction(double n, double x) {
  return std::exp(-x) / continued_fraction(x + n, [&](int i) {
           return Term<double>{-i * (n - 1 + i), x + n + 2 * i};
         });
}

// 0 <= x <= 1: Abramowitz and Stegun 5.1.12 for integers n; the term that is infinite there is
// gamma(1 - n) x^(n - 1) elsewhere.
double exponential_series_of_order(double n, double x) {
  const bool whole = n == std::floor(n);
  double sum = whole ? 0 : std::tgamma(1 - n) * std::pow(x, n - 1);
  double power = 1, psi = -euler;
  for (int k = 0; k < most_terms; ++k) {
    if (k > 0) power *= -x / k;
    if (k == n - 1) {
      sum += power * (psi - std::log(x));
    } else {
      const double part = power / (n - 1 - k);
      sum += part;
      if ((k + 1 > n || n > 30) && negligible(part, sum)) break;
    }
    psi += 1.0 / (k + 1);
  }
  return sum;
}

// E_1(i x) for x > 2.
Complex exponential_on_axis(double x) {
  const Complex b(1, x);
  const Complex fraction = continued_fraction(b, [&](int i) {
    return Term<Complex>{Complex(-static_cast<double>(i) * i), b + Complex(2.0 * i)};
  });
  return Complex(std::cos(x), -std::sin(x)) / fraction;
}
constexpr double longest_series = 4;

// The nodes and weights of Gauss and Legendre on [0, 1].
struct Quadrature {
  static constexpr int order = 40;
  std::array<double, order> node, weight;
  Quadrature() {
    for (int i = 0; i < order; ++i) {
      double x = std::cos(pi * (i + 0.75) / (order + 0.5)), slope = 1;
      for (int step = 0; step < 6; ++step) {
        double before = 1, value = x;
        for (int k = 2; k <= order; ++k) {
          const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
          before = value;
          value = next;
        }
        slope = order * (x * value - before) / (x * x - 1);
        x -= value / slope;
      }
      node[index(i)] = (1 + x) / 2;
      weight[index(i)] = 1 / ((1 - x * x) * slope * slope);
    }
  }
};

// For 0 <= a <= 1 and h >= 0. The part beyond 9 / h is below 1e-17 of it.
double owens_integral(double h, double a) {
  static const Quadrature rule;
  const double end = h * a > 9 ? 9 / h : a;
  double sum = 0;
  for (std::size_t i = 0; i < Quadrature::order; ++i) {
    const double u = end * rule.node[i], v = 1 + u * u;
    sum += rule.weight[i] * std::exp(-0.5 * h * h * u * u) / v;
  }
  return sum * end * std::exp(-0.5 * h * h) / (2 * pi);
}

// C(x) + i S(x) for x >= 0, by erf and Faddeeva's function (Abramowitz and Stegun 7.3.22); the
// square of x is reduced to one turn exactly.
Complex fresnel(double x) {
  const double square = x * x, rest = std::fma(x, x, -square);
  const double angle = pi / 2 * (std::fmod(square, 4) + rest);
  const Complex turn(std::cos(angle), std::sin(angle));
  const double scale = std::sqrt(pi) / 2 * x;
  return Complex(0.5, 0.5) * (1.0 - turn * faddeeva({scale, scale}));
}

// Sum of the integral of sin or cos of pi t^2 / 2, term by term, for x < 1.5.
double fresnel_series(double x, bool sine) {
  const double turn = pi / 2 * x * x;
  double term = sine ? turn * x : x, sum = 0;
  for (int k = sine ? 1 : 0; k < 60; k += 2) {
    const double part = term / (2 * k + 1);
    sum += part;
    if (negligible(part, sum)) break;
    term *= -turn * turn / ((k + 1.0) * (k + 2.0));
  }
  return sum;
}

double fresnel_part(double x, bool sine) {
  const double size = std::abs(x);
  if (size > 1e17) return std::copysign(0.5, x);  // and nothing that double holds
  if (size < 1.5) return fresnel_series(x, sine);
  const Complex both = fresnel(size);
  return std::copysign(sine ? both.imag() : both.real(), x);
}

}  // namespace

double exponential_integral(double x) {
  if (x < 0) return -exponential_integral_of_order(1, -x);
  if (x == 0 || x == infinity) return x == 0 ? -infinity : infinity;
  if (!(x > 40)) return euler + std::log(x) + exponential_series(x);
  double term = 1, sum = 1;
  for (int k = 1; k < 40 && !negligible(term, sum); ++k) {
    term *= k / x;
    sum += term;
  }
  return std::exp(x) / x * sum;
}

double exponential_integral_of_order(double n, double x) {
  if (!(n >= 0 && x >= 0)) return nan;
  if (x == infinity) return 0;
  if (x == 0) return n > 1 ? 1 / (n - 1) : infinity;
  if (n == 0) return std::exp(-x) / x;
  if (n == infinity) return 0;
  return x > 1 ? exponential_fraction(n, x) : exponential_series_of_order(n, x);
}

double sine_integral(double x) {
  const double size = std::abs(x);
  if (size == infinity) return std::copysign(pi / 2, x);
  if (size > longest_series) {
    return std::copysign(pi / 2 + exponential_on_axis(size).imag(), x);
  }
  double term = x, sum = 0;
  for (int k = 1; k < 60; k += 2) {
    const double part = term / k;
    sum += part;
    if (negligible(part, sum)) break;
    term *= -x * x / ((k + 1.0) * (k + 2.0));
  }
  return x == 0 ? x : sum;
}

double cosine_integral(double x) {
  const double size = std::abs(x);
  if (size == infinity) return x > 0 ? 0 : nan;
  if (size == 0) return -infinity;
  if (size > longest_series) return -exponential_on_axis(size).real();
  double term = 1, sum = 0;
  for (int k = 2; k < 60; k += 2) {
    term *= -x * x / ((k - 1.0) * k);
    const double part = term / k;
    sum += part;
    if (negligible(part, sum)) break;
  }
  return euler + std::log(size) + sum;
}

double fresnel_sine(double x) { return fresnel_part(x, true); }
double fresnel_cosine(double x) { return fresnel_part(x, false); }

// In powers of u = -log x, with the numbers of Bernoulli, for x in [1/2, 2]; the inversion formulas
// bring other x there (Lewin, Polylogarithms and associated functions, 1981, 1.2).
double spence(double x) {
  if (!(x >= 0)) return nan;
  if (x == 0) return pi * pi / 6;
  const double u = -std::log(x);
  if (x > 2) return -u * u / 2 - (x == infinity ? 0 : spence(1 / x));
  if (x < 0.5) return pi * pi / 6 + u * std::log1p(-x) - spence(1 - x);
  constexpr double over_factorial[] = {1.0 / 36,
                                       -1.0 / 3600,
                                       1.0 / 211680,
                                       -1.0 / 10886400,
                                       5.0 / 66 / 39916800,
                                       -691.0 / 2730 / 6227020800,
                                       7.0 / 6 / 1307674368000,
                                       -3617.0 / 510 / 355687428096000,
                                       43867.0 / 798 / 121645100408832000.0};
  double sum = 0;
  for (int k = 8; k >= 0; --k) sum = sum * u * u + over_factorial[k];
  return u * (1 - u / 4 + u * u * sum);
}

// By quadrature for |a| <= 1; larger ones are reflected (Patefield and Tandy, 2000, 2.3).
double owens_t(double h, double a) {
  if (std::isnan(h) || std::isnan(a)) return nan;
  const double height = std::abs(h), slope = std::abs(a);
  if (height == infinity) return std::copysign(0.0, a);
  if (height == 0) return std::atan(a) / (2 * pi);
  if (slope <= 1) return std::copysign(owens_integral(height, slope), a);
  const auto above = [](double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); };
  const double turned = slope * height;
  const double p = above(height), q = above(turned);
  const double rest = turned == infinity ? 0 : owens_integral(turned, 1 / slope);
  return std::copysign(0.5 * (p + q) - p * q - rest, a);
}

}  // namespace shardax::kernels
