// ops/gamma_variate.cpp - how gamma variates change with their parameter.
//
// A variate x of gamma(a) keeps its quantile P(a, x) when a changes: dx/da = -(dP/da) / (dP/dx), as
// in Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", NeurIPS 2018.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/math.h"
#include "ops/family.h"

namespace shardax::ops {
namespace {

// By Cornish and Fisher's expansion of quantiles in those of the normal distribution. Its error is
// of the order of a^-3/2.
double slope_of_large(double a, double x) {
  const double root = std::sqrt(a), w = (x - a) / root;
  const double cube = w * w * w;
  const double z =
      w - (w * w - 1) / (3 * root) - (cube - 3 * w) / (4 * a) + (4 * cube - 7 * w) / (9 * a);
  return 1 + z / (2 * root) - (z * z * z - 7 * z) / (72 * a * root);
}

// P(a, x) is a sum of x^(a+n) e^-x / gamma(a+n+1). Divided by its derivative by x, term n is r with
// r_0 = x / a, r_n = r_(n-1) x / (a+n), and its logarithm's derivative by a is log x -
// digamma(a+n+1).
double slope(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return 0;
  constexpr double large = 1e4;
  if (a > large) return slope_of_large(a, x);
  const double log_x = std::log(x);
  double term = x / a, order = a + 1, psi = simd::digamma(order), sum = 0;
  constexpr int most_terms = 100'000;
  for (int n = 0; n < most_terms; ++n) {
    const double part = term * (psi - log_x);
    sum += part;
    if (order > x && std::abs(part) < 1e-17 * std::abs(sum)) break;
    psi += 1 / order;
    term *= x / order;
    order += 1;
  }
  return sum;
}

const Op random_gamma_grad_op{elementwise(
    {.name = "random_gamma_grad",
     .doc = "Elementwise derivative of a gamma variate by its parameter; operands a, x.",
     .dtypes = floats,
     .no_gradient = true,
     .map = map_binary<full_floats, [](auto a, auto x) {
       return static_cast<decltype(x)>(slope(static_cast<double>(a), static_cast<double>(x)));
     }>})};

const Op gamma_variate_op{elementwise(
    {.name = "gamma_variate",
     .doc = "Its operand x, a variate of gamma(a), or its logarithm, with the derivative by a.",
     .dtypes = floats,
     .jvp = [](const JvpArgs& a) -> Values {
       const Value &parameter = a.in[0], &x = a.in[1];
       if (!a.t[0]) return {a.t[1]};
       Value by_parameter;
       if (a.params.flag("log_space")) {
         // exp(x) may be 0, where the quotient keeps its limit as long as it can.
         const Value variate = max(unary("exp", x), scalar(x->dtype(), 1e-37));
         by_parameter = div(binary("random_gamma_grad", parameter, variate), variate);
       } else {
         by_parameter = binary("random_gamma_grad", parameter, x);
       }
       const Value changed = mul(a.t[0], by_parameter);
       return {a.t[1] ? add(changed, a.t[1]) : changed};
     },
     .map = map_binary<full_floats, [](auto, auto x) { return x; }>})};

}  // namespace
}  // namespace shardax::ops
