// ops/elementwise/special.cpp - roots, powers, error and gamma functions.
#include <complex>
#include <limits>
#include <numbers>

#include "kernels/special/math.h"
#include "ops/elementwise/slow_path.h"
#include "ops/elementwise/special_family.h"

namespace shardax::ops {
namespace {

Value square(const Value& x) { return unary("square", x); }

// t * slope(x, out).
template <auto slope>
Values jvp_slope(const JvpArgs& a) {
  return {mul(a.t[0], slope(a.in[0], a.out[0]))};
}

// ---- roots ---------------------------------------------------------------------------------

constexpr auto root = [](auto x) {
  using std::sqrt;
  return sqrt(x);
};

// One part is the root of (|z| + |x|) / 2, the other the rest of y.
constexpr auto near_root = [](float x, float y, float& a, float& b) SHARDAX_FAST_PATH {
  const double u = x, v = y, size = simd::sqrt(u * u + v * v);
  const double large = simd::sqrt(0.5 * (size + simd::abs(u))), small = v / (2 * large);
  a = static_cast<float>(u >= 0 ? large : simd::abs(small));
  b = static_cast<float>(u >= 0 ? small : simd::copysign(large, v));
  return is_near(size);
};

const Op sqrt_op{elementwise(
    {.name = "sqrt",
     .operands = 1,
     .doc = "Elementwise square root. Its derivative at 0 is inf.",
     .checks = makes_nan,
     .quick = true,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value&, const Value& out) { return div(constant(out, 0.5), out); }>,
     .map = map_slow_path<map_unary<inexacts, root, lane_floats>, Single, near_root, root>})};

const Op rsqrt_op{elementwise(
    {.name = "rsqrt",
     .operands = 1,
     .doc = "Elementwise reciprocal square root, 1 / sqrt(x).",
     .checks = makes_nan,
     .quick = true,
     .dtypes = inexacts,
     .jvp = jvp_slope<[](const Value& x, const Value& out) {
       return mul(constant(out, -0.5), div(out, x));
     }>,
     .map = map_unary<inexacts, [](auto x) { return decltype(x)(1) / root(x); }, lane_floats>})};

const Op cbrt_op{
    elementwise({.name = "cbrt",
                 .operands = 1,
                 .doc = "Elementwise cube root, also of negative numbers.",
                 .checks = makes_nan,
                 .dtypes = floats,
                 .jvp = jvp_slope<[](const Value&, const Value& out) {
                   return mul(constant(out, 1.0 / 3), integer_pow(out, -2));
                 }>,
                 .map = map_unary<full_floats, [](auto x) { return simd::cbrt(x); }>})};

// ---- pow -----------------------------------------------------------------------------------

Types pow_type(const Op& op, const Types& in, const Params&) {
  const Type &x = in[0], &y = in[1];
  const bool fits = is_inexact(x.dtype) && (is_integer(y.dtype) || x.dtype == y.dtype);
  if (!fits) {
    type_error(
        "the first argument to pow must have an inexact dtype (float or complex), and the "
        "second argument must have an inexact or integer dtype, and two inexact dtypes must "
        "match, but got ",
        name(x.dtype), " and ", name(y.dtype), " respectively.");
  }
  Type out = x;
  out.weak = x.weak && y.weak;
  out.shape = elementwise_shape(op, in);
  return {out};
}

// By size and angle. Only real powers of 0 and of infinity are known, as in XLA.
template <class T>
T complex_pow(T x, T y) {
  using Part = typename T::value_type;
  constexpr Part nan = std::numeric_limits<Part>::quiet_NaN();
  if (y == T(0)) return T(1);
  const bool real = y.imag() == 0;
  if (x == T(0)) return real && y.real() > 0 ? T(0) : T(nan, nan);
  const Part size = std::abs(x), angle = std::arg(x);
  if (std::isinf(size) && x.imag() == 0 && x.real() > 0 && real && y.real() > 0) return T(size);
  const Part scale = std::pow(size, y.real()) * (real ? 1 : std::exp(-y.imag() * angle));
  const Part turn = y.real() * angle + (real ? 0 : y.imag() * std::log(size));
  return {scale * std::cos(turn), scale * std::sin(turn)};
}

constexpr auto pow_kernel = [](auto x, auto y) {
  if constexpr (is_complex_v<decltype(x)>)
    return complex_pow(x, y);
  else
    return simd::pow(x, y);
};

// Integer exponents are converted a block at a time.
template <class T, class Y>
void pow_integer(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  constexpr std::int64_t block = 256;
  T exponents[block];
  for (std::int64_t start = 0; start < n; start += block) {
    const std::int64_t count = std::min(block, n - start);
    for (std::int64_t i = 0; i < count; ++i) {
      const Y y = static_cast<const Y*>(in[1])[start + i];
      if constexpr (is_complex_v<T>)
        exponents[i] = T(static_cast<typename T::value_type>(y));
      else
        exponents[i] = static_cast<T>(y);
    }
    const void* const operands[] = {static_cast<const T*>(in[0]) + start, exponents};
    kernels::map2<T, pow_kernel>(static_cast<T*>(out) + start, operands, count, 0);
  }
}

MapKernel pow_map(const Types& in, const Type&, const Params&) {
  if (in[0].dtype == in[1].dtype)
    return select_map<inexacts, pow_kernel, 2, lane_single>(in[0].dtype);
  MapFunction found = nullptr;
  visit_dtype(in[0].dtype, [&](auto base) {
    visit_dtype(in[1].dtype, [&](auto exponent) {
      using T = decltype(base);
      using Y = decltype(exponent);
      constexpr DTypeSet t = bit(kernels::dtype_of<T>), y = bit(kernels::dtype_of<Y>);
      if constexpr (kernels::is_computed<T> && (t & inexacts) != 0 && (y & integers) != 0) {
        found = pow_integer<T, Y>;
      }
    });
  });
  return {found, 0};
}

Value or_one(const Value& x) { return where(eq(x, constant(x, 0)), full_like(x, 1), x); }

// d/dx: y x^(y-1). An integer y = 0 has derivative 0 even at x = 0.
Value pow_slope_base(const Value& x, const Value& y, const Shape& shape) {
  if (!is_integer(y->dtype())) return mul(y, binary("pow", x, sub(y, scalar(y->dtype(), 1))));
  const Value exponent = broadcast_to(convert(y, x->dtype()), shape);
  const Value power = binary("pow", x, sub(exponent, constant(exponent, 1)));
  return where(eq(exponent, constant(exponent, 0)), full_like(exponent, 0),
               mul(or_one(exponent), power));
}

const Op pow_op{
    elementwise({.name = "pow",
                 .operands = 2,
                 .doc = "Elementwise power, x ** y, of floating or complex x; y may be an integer.",
                 .checks = makes_nan,
                 .dtypes = inexacts,
                 .type = pow_type,
                 .jvp = [](const JvpArgs& a) -> Values {
                   const Value &x = a.in[0], &y = a.in[1], &out = a.out[0];
                   const auto part = [&](const Value& t, const Value& slope) {
                     return mul(broadcast_to(t, out->shape()), slope);
                   };
                   Value sum;
                   if (a.t[0]) sum = part(a.t[0], pow_slope_base(x, y, out->shape()));
                   if (a.t[1] && !is_integer(y->dtype())) {
                     const Value right = part(a.t[1], mul(unary("log", or_one(x)), out));
                     sum = sum ? add(sum, right) : right;
                   }
                   return {sum};
                 },
                 .map = pow_map})};

// ---- error function ------------------------------------------------------------------------

template <int sign>
Value gaussian(const Value& x) {
  const double scale = sign * 2 * std::numbers::inv_sqrtpi;
  return mul(constant(x, scale), unary("exp", neg(square(x))));
}

const Op erf_op{
    elementwise({.name = "erf",
                 .operands = 1,
                 .doc = "Elementwise error function.",
                 .checks = makes_nan,
                 .quick = true,
                 .dtypes = floats,
                 .jvp = jvp_slope<[](const Value& x, const Value&) { return gaussian<1>(x); }>,
                 .map = map_unary<full_floats, [](auto x) { return simd::erf(x); }, lane_floats>})};

const Op erfc_op{elementwise(
    {.name = "erfc",
     .operands = 1,
     .doc = "Elementwise complementary error function, 1 - erf(x), exact for large x.",
     .checks = makes_nan,
     .dtypes = floats,
     .jvp = jvp_slope<[](const Value& x, const Value&) { return gaussian<-1>(x); }>,
     .map = map_unary<full_floats, [](auto x) { return simd::erfc(x); }, lane_floats>})};

const Op erf_inv_op{elementwise(
    {.name = "erf_inv",
     .operands = 1,
     .doc = "Elementwise inverse error function; +-inf at +-1, NaN beyond.",
     .checks = makes_nan,
     .dtypes = floats,
     .jvp = jvp_slope<[](const Value&, const Value& out) {
       return mul(constant(out, 0.5 / std::numbers::inv_sqrtpi), unary("exp", square(out)));
     }>,
     .map = map_unary<full_floats, [](auto x) { return simd::erf_inv(x); }, lane_floats>})};

// ---- gamma function ------------------------------------------------------------------------

// The Hurwitz zeta function, sum over k of (q + k)^-s, for s > 1, by Euler and Maclaurin. Terms up
// to some q + k come first, then the integral and eight corrections B_2j / (2j)!.
constexpr int zeta_terms = 12;
constexpr double zeta_corrections[] = {1.0 / 12,
                                       -1.0 / 720,
                                       1.0 / 30240,
                                       -1.0 / 1209600,
                                       1.0 / 47900160,
                                       -691.0 / 1307674368000.0,
                                       1.0 / 74724249600.0,
                                       -3617.0 / 10670622842880000.0};

// x^-n: of small whole n without logarithms.
template <typename T>
double reciprocal_power(double x, double n) {
  if (n > 8 || n != std::floor(n)) {
    if (!std::is_same_v<T, float>) return std::pow(x, -n);
    const double size = std::abs(x) == 1 ? 1 : std::exp(-n * std::log(std::abs(x)));
    return x < 0 && std::fmod(n, 2) == 1 ? -size : size;
  }
  double power = 1;
  for (auto left = static_cast<unsigned>(n); left != 0; left >>= 1, x *= x) {
    if (left & 1U) power *= x;
  }
  return 1 / power;
}

// The corrections leave 1e-16 of the result from q + k >= 8 + 1.4 s, for float32 1e-9 from 4 + s
// / 2.
template <typename T>
double hurwitz_zeta(double s, double q) {
  constexpr bool single = std::is_same_v<T, float>;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (!(s >= 1) || q != q) return nan;
  if (s == 1) return infinity;
  if (q <= 0 && (q == std::floor(q) || s != std::floor(s))) {
    return q == std::floor(q) ? infinity : nan;
  }
  if (q < -1e6) return nan;  // the sum would be too long
  // The corrections shrink where q is far beyond s; before, large powers leave nothing to add, or
  // are 0 themselves.
  const double terms = single ? 4 + s / 2 : 8 + 1.4 * s;
  constexpr double enough = single ? 1e-10 : 1e-17;
  double sum = 0;
  for (; q < terms; q += 1) {
    const double next = reciprocal_power<T>(q, s);
    sum += next;
    if (q > 0 && !(next * q > enough * std::abs(sum))) return sum;
  }
  const double power = reciprocal_power<T>(q, s), last = 1 / q, square = last * last;
  // q^-s may be too small for a float where the integral, q^(1-s) / (s - 1), is not.
  const double integral = power > 1e-290 ? power * q : reciprocal_power<T>(q, s - 1);
  sum += integral / (s - 1) + power / 2;
  double term = s * power * last;
  for (int j = 0; j < 8; ++j) {
    sum += zeta_corrections[j] * term;
    term *= (s + 2 * j + 1) * (s + 2 * j + 2) * square;
  }
  return sum;
}

double factorial(double n) {
  if (n > 20) return std::tgamma(n + 1);
  double product = 1;
  for (double k = 2; k <= n; ++k) product *= k;
  return product;
}

constexpr auto polygamma_kernel = [](auto order, auto x) {
  using T = decltype(x);
  if (order == 0) return simd::digamma(x);
  if (order < 0 || order != std::floor(order)) return std::numeric_limits<T>::quiet_NaN();
  const double sign = std::fmod(order, T(2)) == 0 ? -1 : 1;
  const auto n = static_cast<double>(order);
  return static_cast<T>(sign * factorial(n) * hurwitz_zeta<T>(n + 1, static_cast<double>(x)));
};

const Op lgamma_op{elementwise(
    {.name = "lgamma",
     .operands = 1,
     .doc = "Elementwise logarithm of |gamma(x)|.",
     .checks = makes_nan,
     .dtypes = floats,
     .jvp = jvp_slope<[](const Value& x, const Value&) { return unary("digamma", x); }>,
     .map = map_unary<full_floats, [](auto x) { return simd::lgamma(x); }, lane_single>})};

const Op digamma_op{elementwise(
    {.name = "digamma",
     .operands = 1,
     .doc = "Elementwise derivative of lgamma.",
     .checks = makes_nan,
     .dtypes = floats,
     .jvp = jvp_slope<[](const Value& x, const Value&) {
       return binary("polygamma", constant(x, 1), x);
     }>,
     .map = map_unary<full_floats, [](auto x) { return simd::digamma(x); }, lane_floats>})};

const Op polygamma_op{elementwise(
    {.name = "polygamma",
     .operands = 2,
     .doc = "Elementwise n-th derivative of digamma; operands are n, x.",
     .dtypes = floats,
     .jvp = [](const JvpArgs& a) -> Values {
       if (a.t[0]) value_error("polygamma gradient with respect to m is not supported");
       const Value next = add(a.in[0], constant(a.in[0], 1));
       return {mul(broadcast_to(a.t[1], a.out[0]->shape()), binary("polygamma", next, a.in[1]))};
     },
     .map = map_binary<full_floats, polygamma_kernel>})};

// The derivative of that sum by s, for q > 0, term by term: there is no closed form.
Value zeta_by_s(const Value& s, const Value& q) {
  const auto number = [&](double value) { return constant(s, value); };
  const Value one = number(1), minus_s = neg(s);
  Value sum;
  for (int k = 0; k < zeta_terms; ++k) {
    const Value base = add(q, number(k));
    const Value part = mul(unary("log", base), binary("pow", base, minus_s));
    sum = sum ? add(sum, part) : part;
  }
  const Value base = add(q, number(zeta_terms)), log_base = unary("log", base);
  const Value power = binary("pow", base, minus_s), above = div(one, sub(s, one));
  sum = add(sum, mul(mul(mul(power, base), above), add(log_base, above)));
  sum = add(sum, mul(mul(power, number(0.5)), log_base));
  Value term = div(mul(s, power), base), shares = div(one, s);
  const Value square_base = square(base);
  for (int j = 0; j < 8; ++j) {
    sum = add(sum, mul(mul(term, number(zeta_corrections[j])), sub(log_base, shares)));
    const Value first = add(s, number(2 * j + 1)), second = add(s, number(2 * j + 2));
    term = mul(term, div(mul(first, second), square_base));
    shares = add(shares, add(div(one, first), div(one, second)));
  }
  return neg(sum);
}

const Op zeta_op{elementwise(
    {.name = "zeta",
     .operands = 2,
     .doc = "Elementwise Hurwitz zeta function, sum over k of (q + k)^-x; operands x, q.",
     .dtypes = floats,
     .jvp = [](const JvpArgs& a) -> Values {
       const Value &s = a.in[0], &q = a.in[1];
       const auto part = [&](const Value& t, const Value& slope) {
         return mul(broadcast_to(t, a.out[0]->shape()), slope);
       };
       Value sum;
       if (a.t[0]) sum = part(a.t[0], zeta_by_s(s, q));
       if (a.t[1]) {
         const Value right = part(a.t[1], mul(neg(s), binary("zeta", add(s, constant(s, 1)), q)));
         sum = sum ? add(sum, right) : right;
       }
       return {sum};
     },
     .map = map_binary<full_floats, [](auto s, auto q) {
       return static_cast<decltype(s)>(
           hurwitz_zeta<decltype(s)>(static_cast<double>(s), static_cast<double>(q)));
     }>})};

}  // namespace
}  // namespace shardax::ops
