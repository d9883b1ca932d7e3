// kernels/special.cpp - series and continued fractions, summed until nothing changes.
#include "kernels/special.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/math.h"
#include "kernels/series.h"

namespace shardax::kernels {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = 1e-17;
double log_gamma(double x) { return simd::lgamma(x); }

// x^a e^-x / gamma(a)
double gamma_scale(double a, double x) { return std::exp(a * std::log(x) - x - log_gamma(a)); }

// By Cornish and Fisher's expansion of quantiles in those of the normal distribution. Its error is
// of the order of a^-3/2.
double slope_of_large(double a, double x) {
  const double root = std::sqrt(a), w = (x - a) / root;
  const double cube = w * w * w;
  const double z =
      w - (w * w - 1) / (3 * root) - (cube - 3 * w) / (4 * a) + (4 * cube - 7 * w) / (9 * a);
  return 1 + z / (2 * root) - (z * z * z - 7 * z) / (72 * a * root);
}

}  // namespace

// The series of the lower share up to its mean, the fraction of the upper one beyond.
double gamma_share(double a, double x, bool upper) {
  if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0)) return nan;
  if (a == 0) return upper ? 0 : 1;
  if (a == infinity) return x == infinity ? nan : (upper ? 1 : 0);
  if (x == 0) return upper ? 1 : 0;
  if (x == infinity) return upper ? 0 : 1;
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < most_terms && term > epsilon * sum; ++n) {
      term *= x / (a + n);
      sum += term;
    }
    const double share = gamma_scale(a, x) * sum;
    return upper ? 1 - share : share;
  }
  const double share = gamma_scale(a, x) / continued_fraction(x + 1 - a, [&](int i) {
                         return Term<double>{-i * (i - a), x + 1 - a + 2 * i};
                       });
  return upper ? share : 1 - share;
}

// P(a, x) is a sum of x^(a+n) e^-x / gamma(a+n+1). Divided by its derivative by x, term n is r with
// r_0 = x / a, r_n = r_(n-1) x / (a+n), and its logarithm's derivative by a is log x -
// digamma(a+n+1).
double gamma_slope(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return nan;
  if (x == 0) return 0;
  constexpr double large = 1e4;
  if (a > large) return slope_of_large(a, x);
  const double log_x = std::log(x);
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

double gamma_share_by_a(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return nan;
  if (x == 0 || x == infinity) return 0;
  return -gamma_slope(a, x) * gamma_scale(a, x) / x;
}

// The fraction converges fast below the mean; beyond, the other end is counted.
double beta_share(double a, double b, double x) {
  if (!(a >= 0 && b >= 0) || !(x >= 0 && x <= 1)) return nan;
  // All is at one end: at 0 for a = 0 or b = inf, at 1 for the others.
  const bool low = a == 0 || b == infinity, high = b == 0 || a == infinity;
  if (low && high) return nan;
  if (low) return x > 0 ? 1 : 0;
  if (high || x == 0 || x == 1) return x == 1 ? 1 : 0;
  const bool turned = x > (a + 1) / (a + b + 2);
  const double p = turned ? b : a, q = turned ? a : b, y = turned ? 1 - x : x;
  const double scale = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + p * std::log(y) +
                                q * std::log1p(-y));
  const double fraction = continued_fraction(1.0, [&](int i) {
    const double m = std::floor(i / 2.0);
    return i % 2 == 0
               ? Term<double>{m * (q - m) * y / ((p + 2 * m - 1) * (p + 2 * m)), 1}
               : Term<double>{-(p + m) * (p + q + m) * y / ((p + 2 * m) * (p + 2 * m + 1)), 1};
  });
  const double share = scale / (p * fraction);
  return turned ? 1 - share : share;
}

}  // namespace shardax::kernels
