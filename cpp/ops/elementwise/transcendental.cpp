// ops/elementwise/transcendental.cpp - exponentials, logarithms, circular and hyperbolic functions.
//
// Derivatives are a tangent times a slope, written in terms of the result if that is cheaper. The
// slope is known when the linear part runs, which is then one product.
#include <complex>
#include <numbers>

#include "kernels/special/math.h"
#include "ops/elementwise/slow_path.h"
#include "ops/elementwise/special_family.h"

namespace shardax::ops {
namespace {

// A rank-0 operand with the dtype and the weakness of `like`.
Value square(const Value& x) { return unary("square", x); }
Value rsqrt(const Value& x) { return unary("rsqrt", x); }

// t * slope(x, out).
template <auto slope>
Values jvp_slope(const JvpArgs& a) {
  return {mul(a.t[0], slope(a.in[0], a.out[0]))};
}

// One function for real numbers, another for complex ones.
template <auto real, auto complex>
constexpr auto either = [](auto x) {
  if constexpr (is_complex_v<decltype(x)>) {
    return complex(x);
  } else {
    return real(x);
  }
};

// ---- exponentials and logarithms -----------------------------------------------------------

// expm1(a + ib) = expm1(a) cos(b) - 2 sin(b / 2)^2 + i exp(a) sin(b): no cancellation near zero. A
// real number's result is real, also where exp(a) is infinite. The array API standard gives the
// result for infinite a and infinite or NaN b.
constexpr auto complex_expm1 = [](auto z) {
  using T = decltype(z);
  using Real = typename T::value_type;
  if (z.imag() == 0) return T(std::expm1(z.real()) + Real(0), z.imag());
  if (std::isinf(z.real()) && !std::isfinite(z.imag())) {
    return z.real() < 0 ? T(-1, 0) : T(z.real(), std::numeric_limits<Real>::quiet_NaN());
  }
  const auto half_sine = std::sin(z.imag() / 2);
  return T(std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
           std::exp(z.real()) * std::sin(z.imag()));
};

// log|1 + z| = log1p(a (2 + a) + b^2) / 2 where that loses no digits.
constexpr auto complex_log1p = [](auto z) {
  using T = decltype(z);
  const auto a = z.real(), b = z.imag();
  const auto excess = a * (2 + a) + b * b;
  const auto size = std::abs(excess) < 1 / decltype(a)(2) ? std::log1p(excess) / 2
                                                          : std::log(std::hypot(1 + a, b));
  return T(size, std::atan2(b, 1 + a));
};

constexpr auto near_exp = [](float x, float y, float& a, float& b) SHARDAX_FAST_PATH {
  const float size = simd::exp(x);
  a = size * simd::cos(y);
  b = size * simd::sin(y);
  return are_finite(a, b);
};
constexpr auto near_log = [](float x, float y, float& a, float& b) SHARDAX_FAST_PATH {
  const double u = x, v = y, size = u * u + v * v;
  a = static_cast<float>(0.5 * simd::log(size));
  b = simd::atan2(y, x);
  return is_near(size);
};

const Op exp_op{elementwise(
    {.name = "exp",
     .operands = 1,
     .doc = "Elementwise exponential, e^x.",
     .checks = makes_nan,
     .quick = true,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value&, const Value& out) { return out; }>,
     .map = map_slow_path<
         map_unary<inexacts,
                   either<[](auto x) { return simd::exp(x); }, [](auto z) { return std::exp(z); }>,
                   lane_floats>,
         Single, near_exp, [](Single z) { return std::exp(z); }>})};

const Op exp2_op{
    elementwise({.name = "exp2",
                 .operands = 1,
                 .doc = "Elementwise power of two, 2^x.",
                 .quick = true,
                 .dtypes = inexacts,
                 .jvp = jvp_slope<[](const Value&, const Value& out) {
                   return mul(constant(out, std::numbers::ln2), out);
                 }>,
                 .map = map_unary<inexacts,
                                  either<[](auto x) { return simd::exp2(x); },
                                         [](auto z) {
                                           using Part = typename decltype(z)::value_type;
                                           return std::exp(z * std::numbers::ln2_v<Part>);
                                         }>,
                                  lane_floats>})};

const Op expm1_op{elementwise(
    {.name = "expm1",
     .operands = 1,
     .doc = "Elementwise e^x - 1, exact near zero.",
     .checks = makes_nan,
     .quick = true,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value&, const Value& out) { return add(out, constant(out, 1)); }>,
     .map = map_unary<inexacts, either<[](auto x) { return simd::expm1(x); }, complex_expm1>,
                      lane_floats>})};

const Op log_op{elementwise(
    {.name = "log",
     .operands = 1,
     .doc = "Elementwise natural logarithm.",
     .checks = makes_nan,
     .quick = true,
     .dtypes = inexacts,
     .jvp = [](const JvpArgs& a) -> Values { return {div(a.t[0], a.in[0])}; },
     .map = map_slow_path<
         map_unary<inexacts,
                   either<[](auto x) { return simd::log(x); }, [](auto z) { return std::log(z); }>,
                   lane_floats>,
         Single, near_log, [](Single z) { return std::log(z); }>})};

const Op log1p_op{elementwise(
    {.name = "log1p",
     .operands = 1,
     .doc = "Elementwise log(1 + x), exact near zero.",
     .checks = makes_nan,
     .quick = true,
     .dtypes = inexacts,
     .jvp = [](const JvpArgs& a) -> Values {
       return {div(a.t[0], add(a.in[0], constant(a.in[0], 1)))};
     },
     .map = map_unary<inexacts, either<[](auto x) { return simd::log1p(x); }, complex_log1p>,
                      lane_floats>})};

const Op logistic_op{elementwise({.name = "logistic",
                                  .operands = 1,
                                  .doc = "Elementwise logistic function, 1 / (1 + e^-x).",
                                  .checks = makes_nan,
                                  .quick = true,
                                  .dtypes = inexacts,
                                  .jvp = jvp_slope<[](const Value&, const Value& out) {
                                    return mul(out, sub(constant(out, 1), out));
                                  }>,
                                  .map = map_unary<inexacts,
                                                   either<[](auto x) { return simd::logistic(x); },
                                                          [](auto z) {
                                                            using T = decltype(z);
                                                            return T(1) / (T(1) + std::exp(-z));
                                                          }>,
                                                   lane_floats>})};

// ---- trigonometric -------------------------------------------------------------------------

// For float64, whose vectors take angles below near_angle.
template <auto base, auto near, auto any>
constexpr auto map_angle = map_slow_path<base, double,
                                         [](double x, double& out) SHARDAX_FAST_PATH {
                                           out = near(x);
                                           return simd::abs(x) < simd::near_angle;
                                         },
                                         any>;

const Op sin_op{elementwise(
    {.name = "sin",
     .operands = 1,
     .doc = "Elementwise sine of radians.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value& x, const Value&) { return unary("cos", x); }>,
     .map = map_angle<
         map_unary<inexacts,
                   either<[](auto x) { return simd::sin(x); }, [](auto z) { return std::sin(z); }>,
                   lane_single>,
         [](double x) SHARDAX_FAST_PATH { return simd::sin<true>(x); },
         [](double x) { return simd::sin(x); }>})};

const Op cos_op{elementwise(
    {.name = "cos",
     .operands = 1,
     .doc = "Elementwise cosine of radians.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value& x, const Value&) { return neg(unary("sin", x)); }>,
     .map = map_angle<
         map_unary<inexacts,
                   either<[](auto x) { return simd::cos(x); }, [](auto z) { return std::cos(z); }>,
                   lane_single>,
         [](double x) SHARDAX_FAST_PATH { return simd::cos<true>(x); },
         [](double x) { return simd::cos(x); }>})};

const Op tan_op{elementwise(
    {.name = "tan",
     .operands = 1,
     .doc = "Elementwise tangent of radians.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value&, const Value& out) {
       return add(constant(out, 1), square(out));
     }>,
     .map = map_angle<
         map_unary<inexacts,
                   either<[](auto x) { return simd::tan(x); }, [](auto z) { return std::tan(z); }>,
                   lane_single>,
         [](double x) SHARDAX_FAST_PATH { return simd::tan<true>(x); },
         [](double x) { return simd::tan(x); }>})};

const Op asin_op{elementwise(
    {.name = "asin",
     .operands = 1,
     .doc = "Elementwise inverse sine, in radians.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value& x, const Value&) {
       return rsqrt(sub(constant(x, 1), square(x)));
     }>,
     .map = map_unary<
         inexacts,
         either<[](auto x) { return simd::asin(x); }, [](auto z) { return std::asin(z); }>,
         lane_single>})};

const Op acos_op{elementwise(
    {.name = "acos",
     .operands = 1,
     .doc = "Elementwise inverse cosine, in radians.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value& x, const Value&) {
       return neg(rsqrt(sub(constant(x, 1), square(x))));
     }>,
     .map = map_unary<
         inexacts,
         either<[](auto x) { return simd::acos(x); }, [](auto z) { return std::acos(z); }>,
         lane_single>})};

const Op atan_op{elementwise(
    {.name = "atan",
     .operands = 1,
     .doc = "Elementwise inverse tangent, in radians.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = [](const JvpArgs& a) -> Values {
       return {div(a.t[0], add(constant(a.in[0], 1), square(a.in[0])))};
     },
     .map = map_unary<
         inexacts,
         either<[](auto x) { return simd::atan(x); }, [](auto z) { return std::atan(z); }>,
         lane_single>})};

// For complex numbers the angle is -i log((x + iy) / sqrt(x^2 + y^2)), with y first as in C.
constexpr auto atan2_kernel = [](auto y, auto x) {
  using T = decltype(y);
  if constexpr (is_complex_v<T>) {
    const T i(0, 1);
    // Adding zero turns a real part's -0 side of the cut into its +0 side: the angle is in (-pi,
    // pi].
    return -i * std::log((x + i * y) / std::sqrt(x * x + y * y) + T(0));
  } else {
    return simd::atan2(y, x);
  }
};

const Op atan2_op{
    elementwise({.name = "atan2",
                 .operands = 2,
                 .doc = "Elementwise angle of the point (y, x), in (-pi, pi]; operands are y, x.",
                 .checks = makes_nan,
                 .dtypes = inexacts,
                 .jvp = [](const JvpArgs& a) -> Values {
                   const Value &y = a.in[0], &x = a.in[1];
                   const Value size = add(square(y), square(x));
                   const auto part = [&](std::size_t i, const Value& slope) {
                     return mul(broadcast_to(a.t[i], a.out[0]->shape()), slope);
                   };
                   if (!a.t[1]) return {part(0, div(x, size))};
                   if (!a.t[0]) return {part(1, div(neg(y), size))};
                   return {add(part(0, div(x, size)), part(1, div(neg(y), size)))};
                 },
                 .map = map_binary<inexacts, atan2_kernel, lane_single>})};

// ---- hyperbolic ----------------------------------------------------------------------------

const Op sinh_op{elementwise(
    {.name = "sinh",
     .operands = 1,
     .doc = "Elementwise hyperbolic sine.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value& x, const Value&) { return unary("cosh", x); }>,
     .map = map_unary<
         inexacts,
         either<[](auto x) { return simd::sinh(x); }, [](auto z) { return std::sinh(z); }>,
         lane_floats>})};

const Op cosh_op{elementwise(
    {.name = "cosh",
     .operands = 1,
     .doc = "Elementwise hyperbolic cosine.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value& x, const Value&) { return unary("sinh", x); }>,
     .map = map_unary<
         inexacts,
         either<[](auto x) { return simd::cosh(x); }, [](auto z) { return std::cosh(z); }>,
         lane_floats>})};

// (1 + y)(1 - y) keeps digits where y is close to 1.
const Op tanh_op{elementwise(
    {.name = "tanh",
     .operands = 1,
     .doc = "Elementwise hyperbolic tangent.",
     .checks = makes_nan,
     .quick = true,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value&, const Value& out) {
       return mul(add(constant(out, 1), out), sub(constant(out, 1), out));
     }>,
     .map = map_unary<
         inexacts,
         either<[](auto x) { return simd::tanh(x); }, [](auto z) { return std::tanh(z); }>,
         lane_floats>})};

const Op asinh_op{elementwise(
    {.name = "asinh",
     .operands = 1,
     .doc = "Elementwise inverse hyperbolic sine.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value& x, const Value&) {
       return rsqrt(add(square(x), constant(x, 1)));
     }>,
     .map = map_unary<
         inexacts,
         either<[](auto x) { return simd::asinh(x); }, [](auto z) { return std::asinh(z); }>,
         lane_floats>})};

const Op acosh_op{elementwise(
    {.name = "acosh",
     .operands = 1,
     .doc = "Elementwise inverse hyperbolic cosine; NaN below 1.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value& x, const Value&) {
       return rsqrt(sub(square(x), constant(x, 1)));
     }>,
     .map = map_unary<
         inexacts,
         either<[](auto x) { return simd::acosh(x); }, [](auto z) { return std::acosh(z); }>,
         lane_floats>})};

const Op atanh_op{elementwise(
    {.name = "atanh",
     .operands = 1,
     .doc = "Elementwise inverse hyperbolic tangent.",
     .checks = makes_nan,
     .dtypes = inexacts,
     .jvp = [](const JvpArgs& a) -> Values {
       const Value one = constant(a.in[0], 1);
       return {div(a.t[0], mul(add(one, a.in[0]), sub(one, a.in[0])))};
     },
     .map = map_unary<
         inexacts,
         either<[](auto x) { return simd::atanh(x); }, [](auto z) { return std::atanh(z); }>,
         lane_floats>})};

}  // namespace
}  // namespace shardax::ops
