// ops/elementwise/incomplete.cpp - the incomplete gamma and beta functions, and Bessel functions.
#include <limits>

#include "kernels/special/math_bessel.h"
#include "kernels/special/special.h"
#include "ops/elementwise/special_family.h"

namespace shardax::ops {
namespace {

Value exp_of(const Value& x) { return unary("exp", x); }
Value log_of(const Value& x) { return unary("log", x); }
Value lgamma_of(const Value& x) { return unary("lgamma", x); }

// Floats are computed to float's digits.
template <bool upper>
constexpr auto incomplete_gamma = [](auto a, auto x) {
  return static_cast<decltype(x)>(kernels::igamma(a, x, upper, sizeof x == sizeof(float)));
};
constexpr auto incomplete_beta = [](auto a, auto b, auto x) {
  return static_cast<decltype(x)>(kernels::betainc(a, b, x, sizeof x == sizeof(float)));
};
template <auto F>
MapKernel map_ternary(const Types& in, const Type&, const Params&) {
  return select_map<full_floats, F, 3>(in[0].dtype);
}

// ---- gamma -----------------------------------------------------------------------------------

// x, or `other` where x is `end` and the exponent 0, which no infinity is to be multiplied by.
Value before_end(const Value& x, double end, const Value& exponent, double other) {
  const Value ends = logical_and(eq(x, full_like(x, end)), eq(exponent, full_like(exponent, 0)));
  return where(ends, full_like(x, other), x);
}

// x^(a-1) e^-x / gamma(a), 0 at infinity, which is no factor of it.
Value density(const Value& a, const Value& any) {
  const Value infinity = full_like(any, std::numeric_limits<double>::infinity());
  const Value x = where(eq(any, infinity), full_like(any, 1e30), any);
  const Value exponent = sub(a, constant(a, 1));
  const Value power = mul(exponent, log_of(before_end(x, 0, exponent, 1)));
  return exp_of(sub(sub(power, x), lgamma_of(a)));
}

// Derivatives of the lower share: by x the density.
template <int sign>
Values share_jvp(const JvpArgs& args) {
  const Shape& shape = args.out[0]->shape();
  const Value a = broadcast_to(args.in[0], shape), x = broadcast_to(args.in[1], shape);
  Value sum;
  if (args.t[0]) sum = mul(broadcast_to(args.t[0], shape), binary("igamma_grad_a", a, x));
  if (args.t[1]) {
    const Value right = mul(broadcast_to(args.t[1], shape), density(a, x));
    sum = sum ? add(sum, right) : right;
  }
  return {sign < 0 ? neg(sum) : sum};
}

const Op igamma_op{elementwise(
    {.name = "igamma",
     .operands = 2,
     .doc = "Elementwise regularized lower incomplete gamma function, the share of gamma(a) below "
            "x; operands a, x.",
     .dtypes = floats,
     .jvp = share_jvp<1>,
     .map = map_binary<full_floats, incomplete_gamma<false>>})};

const Op igammac_op{
    elementwise({.name = "igammac",
                 .operands = 2,
                 .doc = "Elementwise 1 - igamma(a, x), without cancellation; operands a, x.",
                 .dtypes = floats,
                 .jvp = share_jvp<-1>,
                 .map = map_binary<full_floats, incomplete_gamma<true>>})};

// By x: the derivative of the density by a.
const Op igamma_grad_a_op{elementwise(
    {.name = "igamma_grad_a",
     .operands = 2,
     .doc = "Elementwise derivative of igamma(a, x) by a; operands a, x.",
     .dtypes = floats,
     .jvp = [](const JvpArgs& args) -> Values {
       if (args.t[0]) no_derivative("igamma_grad_a");
       const Shape& shape = args.out[0]->shape();
       const Value a = broadcast_to(args.in[0], shape), x = broadcast_to(args.in[1], shape);
       const Value slope = mul(density(a, x), sub(log_of(x), unary("digamma", a)));
       return {mul(broadcast_to(args.t[1], shape), slope)};
     },
     .map = map_binary<full_floats, in_double<kernels::igamma_by_a>>})};

// ---- beta ------------------------------------------------------------------------------------

Values beta_jvp(const JvpArgs& args) {
  if (args.t[0] || args.t[1]) {
    value_error("The gradient of betainc with respect to a and b is not supported.");
  }
  const Shape& shape = args.out[0]->shape();
  const Value a = broadcast_to(args.in[0], shape), b = broadcast_to(args.in[1], shape),
              x = broadcast_to(args.in[2], shape);
  const Value one = constant(x, 1), low = sub(a, one), high = sub(b, one);
  const Value norm = sub(add(lgamma_of(a), lgamma_of(b)), lgamma_of(add(a, b)));
  const Value above = mul(high, unary("log1p", neg(before_end(x, 1, high, 0))));
  const Value powers = add(above, mul(low, log_of(before_end(x, 0, low, 1))));
  const Value density = exp_of(sub(powers, norm));
  return {mul(broadcast_to(args.t[2], shape), density)};
}

const Op beta_op{elementwise(
    {.name = "regularized_incomplete_beta",
     .operands = 3,
     .doc = "Elementwise regularized incomplete beta function, the share of beta(a, b) in [0, x]; "
            "operands a, b, x.",
     .dtypes = floats,
     .jvp = beta_jvp,
     .map = map_ternary<incomplete_beta>})};

// ---- Bessel functions --------------------------------------------------------------------------

const Op bessel_i0e_op{elementwise(
    {.name = "bessel_i0e",
     .operands = 1,
     .doc = "Elementwise modified Bessel function of order 0, times e^-|x|.",
     .dtypes = floats,
     .jvp = [](const JvpArgs& a) -> Values {
       const Value slope = sub(unary("bessel_i1e", a.in[0]), mul(unary("sign", a.in[0]), a.out[0]));
       return {mul(a.t[0], slope)};
     },
     .map = map_unary<full_floats, [](auto x) { return simd::bessel_i0e(x); }, lane_floats>})};

const Op bessel_i1e_op{elementwise(
    {.name = "bessel_i1e",
     .operands = 1,
     .doc = "Elementwise modified Bessel function of order 1, times e^-|x|.",
     .dtypes = floats,
     .jvp = [](const JvpArgs& a) -> Values {
       const Value &x = a.in[0], &y = a.out[0];
       const Value sign = unary("sign", x);
       const Value near = lt(unary("abs", x), constant(x, 0.1));
       // Near 0 by the series of I_1', whose derivatives are right too.
       const Value small = where(near, x, full_like(x, 0)), square = mul(small, small);
       Value series = constant(x, 1.0 / 163840);
       for (const double term : {7.0 / 18432, 5.0 / 384, 3.0 / 16, 0.5}) {
         series = add(constant(x, term), mul(square, series));
       }
       const Value ratio = div(y, where(near, full_like(x, 1), x));
       // The slope of sign x times x at 0 is 0, unlike that of |x|.
       const Value falling = unary("exp", neg(mul(sign, x)));
       const Value slope = where(near, mul(falling, series), sub(unary("bessel_i0e", x), ratio));
       return {mul(a.t[0], sub(slope, mul(sign, y)))};
     },
     .map = map_unary<full_floats, [](auto x) { return simd::bessel_i1e(x); }, lane_floats>})};

}  // namespace
}  // namespace shardax::ops
