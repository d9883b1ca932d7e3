// ops/elementwise/gamma_variate.cpp - derivatives of gamma variates by their parameter.
//
// A variate x of gamma(a) keeps its quantile P(a, x) when a changes: dx/da = -(dP/da) / (dP/dx), as
// in Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", NeurIPS 2018.
#include "kernels/special/special.h"
#include "ops/family.h"

namespace shardax::ops {
namespace {

const Op random_gamma_grad_a_op{
    elementwise({.name = "random_gamma_grad_a",
                 .operands = 2,
                 .doc = "Elementwise derivative of random_gamma_grad by a; operands a, x.",
                 .dtypes = floats,
                 .jvp = [](const JvpArgs&) -> Values { no_derivative("random_gamma_grad_a"); },
                 .map = map_binary<full_floats, [](auto a, auto x) {
                   return static_cast<decltype(x)>(
                       kernels::gamma_slope_by_a(static_cast<double>(a), static_cast<double>(x)));
                 }>})};

// With the density p of gamma(a), whose logarithm has the derivative (a - 1) / x - 1 by x and
// log x - digamma(a) by a: out = -(dP/da) / p.
Values random_gamma_grad_jvp(const JvpArgs& args) {
  const Value &a = args.in[0], &x = args.in[1];
  Value sum;
  if (args.t[0]) sum = mul(args.t[0], binary("random_gamma_grad_a", a, x));
  if (args.t[1]) {
    const Value one = scalar(x->dtype(), 1);
    const Value by_density = mul(args.out[0], sub(div(sub(a, one), x), one));
    const Value by_x = sub(sub(unary("digamma", a), unary("log", x)), by_density);
    const Value part = mul(args.t[1], by_x);
    sum = sum ? add(sum, part) : part;
  }
  return {sum};
}

const Op random_gamma_grad_op{elementwise(
    {.name = "random_gamma_grad",
     .operands = 2,
     .doc = "Elementwise derivative of a gamma variate by its parameter; operands a, x.",
     .dtypes = floats,
     .jvp = random_gamma_grad_jvp,
     .map = map_binary<full_floats, [](auto a, auto x) {
       return static_cast<decltype(x)>(
           kernels::gamma_slope(static_cast<double>(a), static_cast<double>(x)));
     }>})};

const Op gamma_variate_op{elementwise(
    {.name = "gamma_variate",
     .operands = 2,
     .doc = "Its operand x, a variate of gamma(a), or its logarithm, with the derivative by a.",
     .dtypes = floats,
     .jvp = [](const JvpArgs& a) -> Values {
       // The result, not the operand: it changes with the parameter in turn.
       const Value &parameter = a.in[0], &x = a.out[0];
       if (!a.t[0]) return {a.t[1]};
       Value by_parameter;
       if (a.params.flag(param::log_space)) {
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
