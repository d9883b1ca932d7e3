// ops/elementwise/integrals.cpp - functions that are defined as integrals, and the logarithm of the
// gamma function of complex numbers.
#include "kernels/special/integrals.h"

#include <numbers>

#include "ir/core_ops.h"
#include "ops/elementwise/special_family.h"

namespace shardax::ops {
namespace {

Value square(const Value& x) { return unary("square", x); }

// A kernel out of a function of complex doubles.
template <auto F>
constexpr auto in_complex =
    [](auto x) { return static_cast<decltype(x)>(F(static_cast<std::complex<double>>(x))); };

using Slope = Value (*)(const Value& x, const Value& out);
template <Slope slope>
Values jvp_slope(const JvpArgs& a) {
  return {mul(a.t[0], slope(a.in[0], a.out[0]))};
}

template <auto F, Slope slope>
OpSpec of_real(std::string_view name, std::string_view doc) {
  return elementwise({.name = name,
                      .operands = 1,
                      .doc = doc,
                      .dtypes = floats,
                      .jvp = jvp_slope<slope>,
                      .map = map_unary<full_floats, in_double<F>>});
}

// ---- exponential, sine, cosine
// -------------------------------------------------------------------

const Op expi_op{of_real<kernels::exponential_integral, [](const Value& x, const Value&) {
  return div(unary("exp", x), x);
}>("expi", "Elementwise exponential integral, the principal value of that of e^t / t up to x.")};

// By n there is no derivative.
const Op expn_op{elementwise(
    {.name = "expn",
     .operands = 2,
     .doc =
         "Elementwise exponential integral of order n, that of e^(-x t) t^-n from 1 on; operands "
         "n, x.",
     .dtypes = floats,
     .jvp = [](const JvpArgs& a) -> Values {
       if (!a.t[1]) return {Value()};
       // E_(n-1); below order 0 by the recurrence, (e^-x - (n - 1) E_n) / x.
       const Value &n = a.in[0], &x = a.in[1], &out = a.out[0];
       const Value less = sub(n, constant(n, 1)), negative = lt(less, constant(n, 0));
       const Value order = where(negative, full_like(less, 0), less);
       const Value recurred = div(sub(unary("exp", neg(x)), mul(less, out)), x);
       const Shape& shape = out->shape();
       const Value slope = where(broadcast_to(negative, shape), broadcast_to(recurred, shape),
                                 broadcast_to(binary("expn", order, x), shape));
       return {neg(mul(broadcast_to(a.t[1], shape), slope))};
     },
     .map = map_binary<full_floats, in_double<kernels::exponential_integral_of_order>>})};

const Op sine_integral_op{of_real<kernels::sine_integral, [](const Value& x, const Value&) {
  const Value zero = eq(x, constant(x, 0));
  // sin(x) / x, with the derivatives of its series at 0.
  const Value safe = where(zero, full_like(x, 1), x);
  return where(zero, sub(constant(x, 1), div(square(x), constant(x, 6))),
               div(unary("sin", safe), safe));
}>("sine_integral", "Elementwise integral of sin(t) / t from 0 to x.")};

const Op cosine_integral_op{of_real<kernels::cosine_integral, [](const Value& x, const Value&) {
  return div(unary("cos", x), x);
}>("cosine_integral", "Elementwise cosine integral of |x|, minus that of cos(t) / t from |x| on.")};

// ---- Fresnel, Spence, Owen
// -----------------------------------------------------------------------

// The sine (or cosine) of pi / 2 x^2. With x = n + f, n whole, n^2 depends only on whether n is
// odd. n f is exact, as n has the bits of x that f lacks.
Value fresnel_slope(const Value& x, bool cosine) {
  const Value two = constant(x, 2);
  const Value n = unary("floor", add(x, constant(x, 0.5))), f = sub(x, n);
  const Value odd = binary("ne", binary("rem", n, two), constant(x, 0));
  const Value turns = add(mul(two, binary("rem", mul(n, f), two)), square(f));
  const Value angle = mul(constant(x, std::numbers::pi / 2), turns);
  const Value sin = unary("sin", angle), cos = unary("cos", angle);
  return cosine ? where(odd, neg(sin), cos) : where(odd, cos, sin);
}

const Op fresnel_sine_op{of_real<kernels::fresnel_sine, [](const Value& x, const Value&) {
  return fresnel_slope(x, false);
}>("fresnel_sine", "Elementwise integral of sin(pi t^2 / 2) from 0 to x.")};

const Op fresnel_cosine_op{of_real<kernels::fresnel_cosine, [](const Value& x, const Value&) {
  return fresnel_slope(x, true);
}>("fresnel_cosine", "Elementwise integral of cos(pi t^2 / 2) from 0 to x.")};

// Near 1, log(x) / (1 - x) by its series, whose derivatives are right too.
const Op spence_op{of_real<kernels::spence, [](const Value& x, const Value&) {
  const Value one = constant(x, 1), u = sub(x, one);
  const Value near = lt(unary("abs", u), constant(x, 1e-3));
  const Value safe = where(near, full_like(x, 2), u);
  Value series = constant(x, 1.0 / 7);
  for (int k = 6; k >= 1; --k) {
    series = sub(constant(x, 1.0 / k), mul(u, series));
  }
  return where(near, neg(series), div(neg(unary("log1p", safe)), safe));
}>("spence", "Elementwise integral of log(t) / (1 - t) from 1 to x.")};

const Op owens_t_op{elementwise(
    {.name = "owens_t",
     .operands = 2,
     .doc =
         "Elementwise probability that a standard normal variable is above h and another between "
         "0 and a times it; operands h, a.",
     .dtypes = floats,
     .jvp = [](const JvpArgs& args) -> Values {
       const Value &h = args.in[0], &a = args.in[1];
       const auto part = [&](const Value& t, const Value& slope) {
         return mul(broadcast_to(t, args.out[0]->shape()), slope);
       };
       const Value half_square = mul(constant(h, -0.5), square(h));
       Value sum;
       if (args.t[0]) {
         const Value inner = unary("erf", mul(mul(a, h), constant(h, 1 / std::numbers::sqrt2)));
         const double scale = -std::numbers::inv_sqrtpi / (2 * std::numbers::sqrt2);
         sum = part(args.t[0], mul(mul(constant(h, scale), unary("exp", half_square)), inner));
       }
       if (args.t[1]) {
         const Value grown = add(square(a), constant(a, 1));
         const Value density = unary("exp", mul(half_square, grown));
         const Value slope = div(density, mul(constant(a, 2 * std::numbers::pi), grown));
         const Value right = part(args.t[1], slope);
         sum = sum ? add(sum, right) : right;
       }
       return {sum};
     },
     .map = map_binary<full_floats, in_double<kernels::owens_t>>})};

// ---- Faddeeva
// ------------------------------------------------------------------------------------

constexpr double two_over_root_pi = 2 * std::numbers::inv_sqrtpi;

// near(x) where x is at most 10 (of doubles 50). Beyond, where near is a difference of nearly equal
// numbers, -scale / x^2 times the sum of (2 k + 1)!! (sign / (2 x^2))^k.
template <class Near>
Value with_tail(const Value& x, const Value& size, Near near, double scale, double sign) {
  const Value far = lt(constant(x, x->dtype() == DType::float64 ? 50 : 10), size);
  const Value large = where(far, x, full_like(x, 100));
  const Value inverse = div(constant(x, 1), large), u = square(inverse);
  Value sum = constant(x, 1);
  for (int k = 5; k >= 1; --k) {
    sum = add(constant(x, 1), mul(mul(constant(x, sign * (2 * k + 1) / 2), u), sum));
  }
  return where(far, mul(mul(constant(x, -scale), u), sum), near(where(far, full_like(x, 0), x)));
}

const Op erfcx_op{of_real<kernels::erfcx, [](const Value& x, const Value& out) {
  const auto near = [&](const Value& x) {
    return sub(mul(mul(constant(x, 2), x), out), constant(x, two_over_root_pi));
  };
  return with_tail(x, x, near, std::numbers::inv_sqrtpi, -1);
}>("erfcx", "Elementwise e^(x^2) erfc(x).")};

const Op dawson_op{of_real<kernels::dawson, [](const Value& x, const Value& out) {
  const auto near = [&](const Value& x) {
    return sub(constant(x, 1), mul(mul(constant(x, 2), x), out));
  };
  return with_tail(x, unary("abs", x), near, 0.5, 1);
}>("dawson", "Elementwise e^(-x^2) times the integral of e^(t^2) from 0 to x.")};

const Op faddeeva_op{elementwise({.name = "faddeeva",
                                  .operands = 1,
                                  .doc = "Elementwise e^(-z^2) erfc(-i z) of complex z.",
                                  .dtypes = complexes,
                                  .jvp = jvp_slope<[](const Value& z, const Value& out) {
                                    const Value zero =
                                        mul(unary("imag", z), constant(unary("imag", z), 0));
                                    const Value shift =
                                        binary("complex", zero, full_like(zero, two_over_root_pi));
                                    return sub(shift, mul(mul(constant(z, 2), z), out));
                                  }>,
                                  .map = map_unary<complexes, in_complex<kernels::faddeeva>>})};

// ---- gamma of complex numbers
// ----------------------------------------------------------------------

template <class T>
void log_gamma_tile(void* out, const void* const* in, std::int64_t n, std::int64_t order) {
  const T* z = static_cast<const T*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) {
    static_cast<T*>(out)[i] = static_cast<T>(
        kernels::log_gamma_derivative(static_cast<int>(order), std::complex<double>(z[i])));
  }
}

const Op log_gamma_op{elementwise(
    {.name = "complex_log_gamma",
     .operands = 1,
     .doc =
         "Elementwise derivative of order `order` of the logarithm of gamma (itself: 0) of complex "
         "numbers, with its cut on the negative axis.",
     .dtypes = complexes,
     .jvp = [](const JvpArgs& a) -> Values {
       const std::int64_t order = a.params.integer(param::order);
       return {mul(a.t[0], bind1(core_ops().complex_log_gamma, {{"order", order + 1}}, {a.in[0]}))};
     },
     .map = [](const Types& in, const Type&, const Params& params) -> MapKernel {
       const bool wide = in[0].dtype == DType::complex128;
       return {wide ? log_gamma_tile<std::complex<double>> : log_gamma_tile<std::complex<float>>,
               params.integer(param::order)};
     }})};

}  // namespace
}  // namespace shardax::ops
