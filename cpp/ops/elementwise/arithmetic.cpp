// ops/elementwise/arithmetic.cpp - add, sub, mul, div and their kin.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/target.h"
#include "kernels/wide.h"
#include "ops/elementwise/complex_numbers.h"
#include "ops/sharding_rules/unreduced_rules.h"

namespace shardax::ops {
namespace {

using kernels::wrapping;

constexpr Signless add_kernel{
    [](auto a, auto b) { return wrapping(a, b, [](auto x, auto y) { return x + y; }); }};
constexpr Signless sub_kernel{
    [](auto a, auto b) { return wrapping(a, b, [](auto x, auto y) { return x - y; }); }};
constexpr Signless mul_kernel{[](auto a, auto b) {
  using T = decltype(a);
  if constexpr (is_complex_v<T>) {
    return complex_product(a, b);
  } else {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
}};
// A lane of integers, which machine code divides itself.
template <class T>
inline constexpr bool is_integer_lane =
    std::is_integral_v<codegen::number_of<T>> && !std::is_integral_v<T>;

// Integers: x / 0 is -1 (all ones), INT_MIN / -1 wraps, as XLA does.
constexpr auto div_kernel = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (is_integer_lane<T>) {
    return quotient(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return wrapping(T(0), a, [](auto x, auto y) { return x - y; });
    }
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
};
constexpr auto rem_kernel = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (is_integer_lane<T>) {
    return remainder(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(0);
    }
    return static_cast<T>(a % b);
  } else {
    return static_cast<T>(std::fmod(a, b));
  }
};
// So small a quotient is off by less than one after rounding, and the rest of x is exact.
constexpr auto near_rem = [](auto x, auto y, auto& out) SHARDAX_FAST_PATH {
  using T = decltype(x);
  constexpr T most = sizeof(T) == 4 ? T(0x1p22) : T(0x1p51), one = 1;
  const T ratio = x / y, size = simd::abs(y);
  const T left = simd::fma(-std::trunc(ratio), y, x);
  const T more = left + simd::copysign(size, x);
  const T kept = left * simd::copysign(one, x) < 0 ? more : left;
  out = simd::abs(x) < size ? x : simd::copysign(kept, x);
  return simd::abs(ratio) < most;
};
constexpr auto sign_kernel = [](auto a) {
  using T = decltype(a);
  if constexpr (is_complex_v<T>) {
    const auto size = std::abs(a);
    return size == 0 ? T(0) : a / size;
  } else if constexpr (std::is_floating_point_v<codegen::number_of<T>>) {
    using std::copysign;
    using codegen::select;
    return select(a != a || a == 0, a, copysign(T(1), a));
  } else if constexpr (is_integer_lane<T>) {
    return select(a > 0, T(1), select(a == 0, T(0), T(-1)));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>((a > 0) - (a < 0));
  } else {
    return static_cast<T>(a != 0);
  }
};

constexpr auto abs_kernel = [](auto a) {
  using T = decltype(a);
  if constexpr (is_complex_v<T>) {
    return size_of_parts(a.real(), a.imag());
  } else if constexpr (std::is_floating_point_v<codegen::number_of<T>>) {
    using std::abs;
    return abs(a);
  } else if constexpr (is_integer_lane<T>) {
    return select(a < 0, -a, a);
  } else if constexpr (std::is_signed_v<T>) {
    return a < 0 ? wrapping(T(0), a, [](auto x, auto y) { return x - y; }) : a;
  } else {
    return a;
  }
};

// By squaring, a block at a time, so that each multiplication is one of vectors.
template <class T>
void integer_pow_tile(void* out, const void* const* in, std::int64_t n, std::int64_t exponent) {
  dispatch([=] {
    constexpr std::int64_t block = 64;
    const T* x = static_cast<const T*>(in[0]);
    T* o = static_cast<T*>(out);
    for (std::int64_t start = 0; start < n; start += block) {
      const std::int64_t count = std::min(block, n - start);
      T power[block], result[block];
      for (std::int64_t i = 0; i < block; ++i) {
        power[i] = i < count ? x[start + i] : T(1);
        result[i] = T(1);
      }
      bool first = true;
      for (auto e = static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent); e; e >>= 1) {
        if ((e & 1) && first) {
          std::copy(power, power + block, result);
          first = false;
        } else if (e & 1) {
          for (std::int64_t i = 0; i < block; ++i) result[i] = mul_kernel(result[i], power[i]);
        }
        if (e == 1) break;
        for (std::int64_t i = 0; i < block; ++i) power[i] = mul_kernel(power[i], power[i]);
      }
      if (exponent < 0) {
        for (std::int64_t i = 0; i < block; ++i) result[i] = div_kernel(T(1), result[i]);
      }
      std::copy(result, result + count, o + start);
    }
  });
}

// The same by the same multiplications.
template <class T>
int record_integer_pow(codegen::VectorProgram& program, const int* in, std::int64_t exponent) {
  const codegen::Recording recording(program);
  const codegen::Lane<T> one(T(1));
  codegen::Lane<T> power = codegen::lane<T>(in[0]), result = one;
  bool first = true;
  for (auto e = static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent); e; e >>= 1) {
    if (e & 1) result = std::exchange(first, false) ? power : mul_kernel(result, power);
    if (e > 1) power = mul_kernel(power, power);
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (exponent < 0) result = one / result;
  }
  return result.id;
}

MapKernel integer_pow_map(const Types& in, const Type&, const Params& params) {
  MapKernel found{nullptr, params.integer(param::y), nullptr};
  visit_dtype(in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kernels::is_computed<T> && (bit(kernels::dtype_of<T>) & numbers) != 0)
      found.function = integer_pow_tile<typename KernelType<T, mul_kernel>::type>;
    if constexpr ((bit(kernels::dtype_of<T>) & lane_complexes) != 0)
      found.record = is_complex_v<T> && found.extra < 0 ? nullptr : record_integer_pow<T>;
  });
  return found;
}

// A cotangent for the linear operand, with the shape of the operand.
Values ct_for(const TransposeArgs& a, std::size_t i, const Value& ct) {
  Values out(a.in.size());
  out[i] = unbroadcast(ct, a.in_types[i]);
  return out;
}

Value maybe_add(const Value& a, const Value& b) { return !a ? b : !b ? a : add(a, b); }

// A tangent for the result from that of operand i, broadcast to the result's shape.
Value spread(const Value& t, const Value& out) {
  return t && t->shape() != out->shape() ? broadcast_to(t, out->shape()) : t;
}

// x, and 1 where it is 0: a divisor.
Value nonzero(const Value& x) { return where(eq(x, scalar(x->dtype(), 0)), full_like(x, 1), x); }

OpSpec sum(OpSpec spec) {
  spec.cheap = true;
  spec.dtypes = any_dtype & ~booleans;
  spec.jvp = [](const JvpArgs& a) -> Values {
    return {maybe_add(spread(a.t[0], a.out[0]), spread(a.t[1], a.out[0]))};
  };
  spec.transpose = [](const TransposeArgs& a) -> Values {
    Values out(2);
    for (std::size_t i : {0u, 1u}) {
      if (a.linear(i)) out[i] = unbroadcast(a.ct[0], a.in_types[i]);
    }
    return out;
  };
  spec.map = map_binary<numbers, add_kernel, lane_complexes>;
  spec.sums = sums_added;
  return elementwise(spec);
}

const Op add_op{sum({.name = "add", .operands = 2, .doc = "Elementwise sum, x + y."})};
const Op add_any_op{sum({.name = "add_any",
                         .operands = 2,
                         .doc = "Elementwise sum of the cotangents of a value's uses."})};

const Op sub_op{elementwise({.name = "sub",
                             .operands = 2,
                             .doc = "Elementwise difference, x - y.",
                             .checks = makes_nan,
                             .cheap = true,
                             .dtypes = numbers,
                             .jvp = [](const JvpArgs& a) -> Values {
                               const Value minus = a.t[1] ? neg(a.t[1]) : a.t[1];
                               if (a.t[0] && a.t[1] && a.t[0]->shape() == a.t[1]->shape())
                                 return {sub(a.t[0], a.t[1])};
                               return {
                                   maybe_add(spread(a.t[0], a.out[0]), spread(minus, a.out[0]))};
                             },
                             .transpose = [](const TransposeArgs& a) -> Values {
                               Values out(2);
                               if (a.linear(0)) out[0] = unbroadcast(a.ct[0], a.in_types[0]);
                               if (a.linear(1)) out[1] = unbroadcast(neg(a.ct[0]), a.in_types[1]);
                               return out;
                             },
                             .map = map_binary<numbers, sub_kernel, lane_complexes>,
                             .sums = sums_added})};

const Op mul_op{elementwise({.name = "mul",
                             .operands = 2,
                             .doc = "Elementwise product, x * y.",
                             .checks = makes_nan,
                             .cheap = true,
                             .dtypes = numbers,
                             .jvp = [](const JvpArgs& a) -> Values {
                               Value sum;
                               if (a.t[0]) sum = mul(a.t[0], a.in[1]);
                               if (a.t[1]) sum = maybe_add(sum, mul(a.in[0], a.t[1]));
                               return {sum};
                             },
                             .transpose = [](const TransposeArgs& a) -> Values {
                               if (a.linear(0)) return ct_for(a, 0, mul(a.ct[0], a.in[1]));
                               return ct_for(a, 1, mul(a.in[0], a.ct[0]));
                             },
                             .map = map_binary<numbers, mul_kernel, lane_complexes>,
                             .sums = sums_multiplied})};

const Op div_op{elementwise({.name = "div",
                             .operands = 2,
                             .doc = "Elementwise quotient, x / y; integers truncate towards zero.",
                             .checks = makes_nan | divides,
                             .dtypes = numbers,
                             .jvp = [](const JvpArgs& a) -> Values {
                               Value sum;
                               if (a.t[0]) sum = div(a.t[0], a.in[1]);
                               if (a.t[1]) {
                                 const Value slope = neg(div(a.out[0], a.in[1]));
                                 sum = maybe_add(sum, mul(slope, a.t[1]));
                               }
                               return {sum};
                             },
                             .transpose = [](const TransposeArgs& a) -> Values {
                               return ct_for(a, 0, div(a.ct[0], a.in[1]));
                             },
                             .map = map_slow_path<map_binary<numbers, div_kernel, lane_numbers>,
                                                  Single, near_div, div_kernel, 2>})};

const Op rem_op{elementwise(
    {.name = "rem",
     .operands = 2,
     .doc = "Elementwise remainder with the sign of the dividend, as C's fmod.",
     .checks = makes_nan,
     .dtypes = integers | floats,
     .jvp = [](const JvpArgs& a) -> Values {
       Value sum = spread(a.t[0], a.out[0]);
       if (a.t[1]) {
         const Value quotient = div(a.in[0], a.in[1]);
         const Value truncated =
             mul(unary("sign", quotient), unary("floor", unary("abs", quotient)));
         sum = maybe_add(sum, mul(neg(truncated), a.t[1]));
       }
       return {sum};
     },
     .map =
         map_slow_path<map_slow_path<map_binary<integers | full_floats, rem_kernel, lane_integers>,
                                     float, near_rem, rem_kernel, 2>,
                       double, near_rem, rem_kernel, 2>})};

const Op neg_op{
    elementwise({.name = "neg",
                 .operands = 1,
                 .doc = "Elementwise negation, -x.",
                 .cheap = true,
                 .dtypes = numbers,
                 .jvp = [](const JvpArgs& a) -> Values { return {neg(a.t[0])}; },
                 .transpose = [](const TransposeArgs& a) -> Values { return {neg(a.ct[0])}; },
                 .map = map_unary<numbers, Signless{[](auto x) {
                                    using T = decltype(x);
                                    if constexpr (std::is_integral_v<T>)
                                      return sub_kernel(T(0), x);
                                    else
                                      return -x;
                                  }},
                                  lane_complexes>,
                 .sums = sums_kept})};

const Op sign_op{
    elementwise({.name = "sign",
                 .operands = 1,
                 .doc = "Elementwise sign: -1, 0 or 1; z / |z| for complex numbers.",
                 .cheap = true,
                 .dtypes = numbers,
                 .jvp = [](const JvpArgs& a) -> Values {
                   if (!is_complex(a.in[0]->dtype())) return {nullptr};
                   // d(z/|z|) = (t - out * Re(conj(out) t)) / |z|, and 0 at 0.
                   const DType dtype = a.in[0]->dtype();
                   const Value along = unary("real", mul(unary("conj", a.out[0]), a.t[0]));
                   const Value across = sub(a.t[0], mul(a.out[0], convert(along, dtype)));
                   const Value slope = div(across, convert(nonzero(unary("abs", a.in[0])), dtype));
                   return {where(eq(a.in[0], scalar(dtype, 0)), full_like(slope, 0), slope)};
                 },
                 .map = map_unary<numbers, sign_kernel, lane_numbers>})};

const Op abs_op{elementwise(
    {.name = "abs",
     .operands = 1,
     .doc = "Elementwise absolute value; |z| of complex numbers is real. Its "
            "derivative at 0 is 1, as from the right; of complex numbers 0.",
     .cheap = true,
     .dtypes = (full_integers & signed_integers) | inexacts,
     .type = type_real,
     .jvp = [](const JvpArgs& a) -> Values {
       if (is_complex(a.in[0]->dtype())) {
         const Value size = convert(nonzero(a.out[0]), a.in[0]->dtype());
         return {unary("real", mul(a.t[0], div(unary("conj", a.in[0]), size)))};
       }
       return {where(ge(a.in[0], scalar(a.in[0]->dtype(), 0)), a.t[0], neg(a.t[0]))};
     },
     .map = map_unary<(full_integers & signed_integers) | inexacts, abs_kernel, lane_complexes>})};

const Op square_op{elementwise(
    {.name = "square",
     .operands = 1,
     .doc = "Elementwise square, x * x.",
     .cheap = true,
     .dtypes = numbers,
     .jvp = [](const JvpArgs& a) -> Values {
       return {mul(a.t[0], mul(full_like(a.in[0], 2), a.in[0]))};
     },
     .map =
         map_unary<numbers, Signless{[](auto x) { return mul_kernel(x, x); }}, lane_complexes>})};

const Op integer_pow_op{elementwise(
    {.name = "integer_pow",
     .operands = 1,
     .doc = "Elementwise power with a constant integer exponent, x ** y.",
     .checks = makes_nan,
     .cheap = true,
     .dtypes = numbers,
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       if (params.integer(param::y) < 0 && is_integer(in[0].dtype)) {
         type_error("Integers cannot be raised to negative powers, got integer_pow(",
                    to_string(in[0]), ", ", params.integer(param::y),
                    "); use a floating-point base.");
       }
       return type_same(op, in, params);
     },
     .jvp = [](const JvpArgs& a) -> Values {
       const std::int64_t y = a.params.integer(param::y);
       if (y == 0) return {nullptr};
       if (y == 1) return {a.t[0]};
       const Value factor = scalar(a.in[0]->dtype(), static_cast<double>(y), a.in[0]->type().weak);
       const Value power = y == 2 ? a.in[0] : integer_pow(a.in[0], y - 1);
       return {mul(a.t[0], mul(factor, power))};
     },
     .map = integer_pow_map})};

}  // namespace

Value add(const Value& a, const Value& b) { return bind1(add_op, {}, {a, b}); }
Value sub(const Value& a, const Value& b) { return bind1(sub_op, {}, {a, b}); }
Value mul(const Value& a, const Value& b) { return bind1(mul_op, {}, {a, b}); }
Value div(const Value& a, const Value& b) { return bind1(div_op, {}, {a, b}); }
Value neg(const Value& a) { return bind1(neg_op, {}, {a}); }
Value integer_pow(const Value& a, std::int64_t y) { return bind1(integer_pow_op, {{"y", y}}, {a}); }

}  // namespace shardax::ops
