// ops/elementwise/rounding.cpp - whole numbers near x, classification, and the parts of complex
// numbers.
#include <cmath>
#include <complex>
#include <limits>

#include "array/narrow.h"
#include "ops/family.h"

namespace shardax::ops {
namespace {

constexpr auto round_down = [](auto x) {
  using std::floor;
  return floor(x);
};
constexpr auto round_up = [](auto x) {
  using std::ceil;
  return ceil(x);
};
constexpr auto finite = [](auto x) {
  using std::abs;
  return abs(x) <= std::numeric_limits<codegen::number_of<decltype(x)>>::max();
};

const Op floor_op{
    elementwise_no_gradient({.name = "floor",
                             .operands = 1,
                             .doc = "Elementwise largest integer not above x.",
                             .dtypes = floats,
                             .map = map_unary<full_floats, round_down, lane_floats>})};

const Op ceil_op{elementwise_no_gradient({.name = "ceil",
                                          .operands = 1,
                                          .doc = "Elementwise smallest integer not below x.",
                                          .dtypes = floats,
                                          .map = map_unary<full_floats, round_up, lane_floats>})};

// The largest number below 1/2 is added: 1/2 itself would carry it over to 1.
constexpr auto round_away = [](auto x) {
  using T = decltype(x);
  using N = codegen::number_of<T>;
  constexpr N below_half = N(0.5) - std::numeric_limits<N>::epsilon() / 4;
  using std::copysign, std::trunc;
  return trunc(x + copysign(T(below_half), x));
};
constexpr auto round_even = [](auto x) {
  using std::rint;
  return rint(x);
};

const Op round_op{elementwise_no_gradient(
    {.name = "round",
     .operands = 1,
     .doc = "Elementwise nearest integer; a half goes away from zero (rounding_method 0) or to the "
            "even neighbour (1).",
     .dtypes = floats,
     .map = [](const Types& in, const Type&, const Params& params) -> MapKernel {
       const bool even =
           params.has("rounding_method") && params.integer(param::rounding_method) == 1;
       if (!even) return select_map<full_floats, round_away, 1, lane_floats>(in[0].dtype);
       return select_map<full_floats, round_even, 1, lane_floats>(in[0].dtype);
     }})};

const Op is_finite_op{
    elementwise_no_gradient({.name = "is_finite",
                             .operands = 1,
                             .doc = "Elementwise: neither infinite nor NaN.",
                             .dtypes = floats,
                             .type = type_predicate,
                             .map = map_unary<full_floats, finite, lane_floats>})};

// The neighbour of x in the direction of y, in the ordering of the bits as sign and magnitude.
template <class Bits, class T>
T next_after(T x, T y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  constexpr Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1);
  const auto bits = std::bit_cast<Bits>(x);
  if ((bits & ~sign) == 0)
    return std::bit_cast<T>(static_cast<Bits>((std::bit_cast<Bits>(y) & sign) | 1));
  const bool grows = (x < y) == (x > 0);
  return std::bit_cast<T>(static_cast<Bits>(grows ? bits + 1 : bits - 1));
}

// 16-bit floats step in their own format.
template <class Half>
void next_after_half(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  const auto* a = static_cast<const Half*>(in[0]);
  const auto* b = static_cast<const Half*>(in[1]);
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = to_float(a[i]), y = to_float(b[i]);
    std::uint16_t bits = a[i].bits;
    if (x != x || y != y) {
      bits = x != x ? a[i].bits : b[i].bits;
    } else if (x == y) {
      bits = b[i].bits;
    } else if ((bits & 0x7fff) == 0) {
      bits = static_cast<std::uint16_t>((b[i].bits & 0x8000) | 1);
    } else {
      bits = static_cast<std::uint16_t>((x < y) == (x > 0) ? bits + 1 : bits - 1);
    }
    static_cast<Half*>(out)[i] = Half{bits};
  }
}

// Codes of numbers without their sign grow with the numbers; `extra` is the dtype.
void next_after_narrow(void* out, const void* const* in, std::int64_t n, std::int64_t extra) {
  const auto dtype = static_cast<DType>(extra);
  const auto* a = static_cast<const narrow_t*>(in[0]);
  const auto* b = static_cast<const narrow_t*>(in[1]);
  const unsigned sign = 1u << (bit_width(dtype) - 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = narrow_float(dtype, a[i]), y = narrow_float(dtype, b[i]);
    narrow_t& result = static_cast<narrow_t*>(out)[i];
    if (x != x || y != y) {
      result = x != x ? a[i] : b[i];
    } else if (x == y) {
      result = b[i];
    } else if (x == 0) {
      result.bits = static_cast<std::uint8_t>((y < 0 ? sign : 0) | 1);
    } else {
      result.bits = static_cast<std::uint8_t>((x < y) == (x > 0) ? a[i].bits + 1 : a[i].bits - 1);
      // Without a minus zero, its code is NaN.
      if ((result.bits & ~sign) == 0) result = to_narrow(dtype, x < 0 ? -0.0f : 0.0f);
    }
  }
}

const Op nextafter_op{elementwise(
    {.name = "nextafter",
     .operands = 2,
     .doc = "Elementwise next representable number from x towards y.",
     .dtypes = floats & ~bit(DType::float8_e8m0fnu),
     .jvp = [](const JvpArgs&) -> Values { no_derivative("nextafter"); },
     .half_native = true,
     .map = [](const Types& in, const Type&, const Params&) -> MapKernel {
       const DType dtype = in[0].dtype;
       if (is_narrow(dtype)) return {next_after_narrow, static_cast<std::int64_t>(dtype)};
       switch (dtype) {
         case DType::bfloat16: return {next_after_half<bfloat16_t>, 0};
         case DType::float16: return {next_after_half<float16_t>, 0};
         default:
           return select_map<full_floats,
                             [](auto x, auto y) {
                               using Bits =
                                   std::conditional_t<sizeof x == 4, std::uint32_t, std::uint64_t>;
                               return next_after<Bits>(x, y);
                             },
                             2>(dtype);
       }
     }})};

// ---- complex numbers -----------------------------------------------------------------------

Value complex_of(const Value& re, const Value& im) { return binary("complex", re, im); }
Value zero_part(const Value& like) { return full_like(convert(like, like->dtype()), 0); }

const Op real_op{
    elementwise({.name = "real",
                 .operands = 1,
                 .doc = "Elementwise real part of complex numbers.",
                 .dtypes = complexes,
                 .type = type_real,
                 .jvp = [](const JvpArgs& a) -> Values { return {unary("real", a.t[0])}; },
                 .transpose = [](const TransposeArgs& a) -> Values {
                   return {complex_of(a.ct[0], zero_part(a.ct[0]))};
                 },
                 .map = map_unary<complexes, [](auto z) { return z.real(); }, complexes>})};

const Op imag_op{
    elementwise({.name = "imag",
                 .operands = 1,
                 .doc = "Elementwise imaginary part of complex numbers.",
                 .dtypes = complexes,
                 .type = type_real,
                 .jvp = [](const JvpArgs& a) -> Values { return {unary("imag", a.t[0])}; },
                 .transpose = [](const TransposeArgs& a) -> Values {
                   return {complex_of(zero_part(a.ct[0]), neg(a.ct[0]))};
                 },
                 .map = map_unary<complexes, [](auto z) { return z.imag(); }, complexes>})};

Types type_complex(const Op& op, const Types& in, const Params& params) {
  const Type type = type_same(op, in, params)[0];
  return {with_dtype(type, complex_dtype(type.dtype), type.weak)};
}

const Op complex_op{elementwise(
    {.name = "complex",
     .operands = 2,
     .doc = "Elementwise complex number of a real and an imaginary part.",
     .dtypes = full_floats,
     .type = type_complex,
     .jvp = [](const JvpArgs& a) -> Values {
       const auto part = [&](std::size_t i) {
         const Value t = a.t[i] ? a.t[i] : zero_part(a.in[i]);
         return broadcast_to(t, a.out[0]->shape());
       };
       return {complex_of(part(0), part(1))};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       Values out(2);
       if (a.linear(0)) out[0] = unbroadcast(unary("real", a.ct[0]), a.in_types[0]);
       if (a.linear(1)) out[1] = unbroadcast(neg(unary("imag", a.ct[0])), a.in_types[1]);
       return out;
     },
     .map =
         map_binary<full_floats, [](auto re, auto im) { return codegen::complex_number(re, im); },
                    lane_floats>})};

const Op conj_op{
    elementwise({.name = "conj",
                 .operands = 1,
                 .doc = "Elementwise complex conjugate; real operands become complex.",
                 .dtypes = full_floats | complexes,
                 .type = type_complex,
                 .jvp = [](const JvpArgs& a) -> Values { return {unary("conj", a.t[0])}; },
                 .transpose = [](const TransposeArgs& a) -> Values {
                   const bool complex = is_complex(a.in_types[0].dtype);
                   return {unary(complex ? "conj" : "real", a.ct[0])};
                 },
                 .map = map_unary<full_floats | complexes,
                                  [](auto z) {
                                    using std::conj, codegen::conj;
                                    using T = decltype(z);
                                    if constexpr (is_complex_v<T>)
                                      return conj(z);
                                    else
                                      return codegen::complex_number(z, T(0));
                                  },
                                  lane_floats | complexes>})};

}  // namespace
}  // namespace shardax::ops
