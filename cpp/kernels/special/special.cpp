// kernels/special/special.cpp - the incomplete beta function, a continued fraction summed until
// nothing changes.
#include "kernels/special/special.h"

#include <cmath>
#include <limits>

#include "kernels/special/igamma_prefactor.h"
#include "kernels/special/math.h"

namespace shardax::kernels {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

// The fraction converges fast below the mean; beyond, the other end is counted.
double betainc(double a, double b, double x, bool single) {
  if (!(a >= 0 && b >= 0) || !(x >= 0 && x <= 1)) return nan;
  // All is at one end: at 0 for a = 0 or b = inf, at 1 for the others.
  const bool low = a == 0 || b == infinity, high = b == 0 || a == infinity;
  if (low && high) return nan;
  if (low) return x > 0 ? 1 : 0;
  if (high || x == 0 || x == 1) return x == 1 ? 1 : 0;
  const bool turned = x > (a + 1) / (a + b + 2);
  const double p = turned ? b : a, q = turned ? a : b, y = turned ? 1 - x : x;
  const double scale = beta_scale(p, q, y, turned ? x : 1 - x);
  const auto terms = [&](int i) {
    const double m = std::floor(i / 2.0);
    return i % 2 == 0
               ? Term<double>{m * (q - m) * y / ((p + 2 * m - 1) * (p + 2 * m)), 1}
               : Term<double>{-(p + m) * (p + q + m) * y / ((p + 2 * m) * (p + 2 * m + 1)), 1};
  };
  const double fraction = continued_fraction(1.0, terms, single ? 1e-9 : 1e-16);
  const double share = scale / (p * fraction);
  return turned ? 1 - share : share;
}

}  // namespace shardax::kernels
