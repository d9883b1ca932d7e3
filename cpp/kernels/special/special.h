// kernels/special/special.h - special functions of doubles with a loop for each element.
#pragma once

namespace shardax::kernels {

// The share of gamma(a) below x (`upper`: above), without cancellation in either; all of it is at 0
// for a = 0. NaN for negative operands and where both are 0. `single`: float's digits suffice.
double igamma(double a, double x, bool upper, bool single = false);
// dx/da of the x at which igamma(a, x, false) has a given value.
double gamma_slope(double a, double x);
// The derivative of gamma_slope by a.
double gamma_slope_by_a(double a, double x);
// The derivative of igamma(a, x, false) by a.
double igamma_by_a(double a, double x);

// The share of beta(a, b) in [0, x]. NaN for negative a or b, and for x beyond [0, 1].
double betainc(double a, double b, double x, bool single = false);

}  // namespace shardax::kernels
