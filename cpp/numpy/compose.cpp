// numpy/compose.cpp - jnp arithmetic out of ops, with NumPy's rules for signs and zeros.
#include "numpy/compose.h"

#include <limits>
#include <numbers>

#include "base/errors.h"
#include "ir/core_ops.h"
#include "trace/trace.h"

namespace shardax::numpy {

using namespace ops;

namespace {

// A constant that leaves dtype and weakness of the other operand as they are.
Value constant(const Value& like, double value) {
  return scalar(like->dtype(), value, like->type().weak);
}
Value constants(const Value& like, double value) { return full_like(like, value); }

Values promoted(const Value& a, const Value& b, Promote rule, std::string_view name) {
  return promote_shapes(promote_dtypes({a, b}, rule, name), name);
}
// Promotion for functions that JAX composes of others: no name stands in errors about dtypes.
Values promoted_unnamed(const Value& a, const Value& b, Promote rule, std::string_view name) {
  return promote_shapes(promote_dtypes({a, b}, rule), name);
}

Value rem(const Value& a, const Value& b) { return binary("rem", a, b); }

Value inexact(const Value& a) { return promote_dtypes({a}, Promote::inexact)[0]; }

// A real function of a real value, or of the real and imaginary parts of a complex one.
Value of_parts(const Value& a, Value (*f)(const Value&)) {
  return is_complex(a->dtype()) ? binary("complex", f(real(a)), f(imag(a))) : f(a);
}

// Programs show the ops of `f`; an array goes through them in one pass.
Value in_one_pass(const char* name, const Value& a, Value (*f)(const Value&)) {
  if (a->is_tracer() || staging_in_progress()) return f(a);
  return jitted1(name, {a}, [f](const Values& in) { return f(in[0]); });
}

Value ordered(std::string_view record, const Value& a, const Value& b) {
  const Values in = promoted(a, b, Promote::any, record);
  if (!is_complex(in[0]->dtype())) return binary(record, in[0], in[1]);
  const Values x = broadcast_arrays(in);
  const Value left = real(x[0]), right = real(x[1]);
  return where(eq(left, right), binary(record, imag(x[0]), imag(x[1])),
               binary(record, left, right));
}

Values strong(Values values) {
  for (Value& value : values) value = as_type(value, {value->dtype(), false});
  return values;
}

// Operands of the result's shape, weak only where that has rank 0.
Values strong_arrays(const Values& values) {
  Values out = broadcast_arrays(values);
  return out[0]->shape().empty() ? out : strong(std::move(out));
}

// Both operands of the result's shape, as select_n wants its cases.
Values full_shape(const Values& values) { return broadcast_arrays(values); }

Value integer_floor_divide(const Value& a, const Value& b) {
  const Value quotient = div(a, b);
  if (is_unsigned_integer(a->dtype())) return quotient;
  const Value inexact_quotient =
      logical_and(ne(unary("sign", a), unary("sign", b)), ne(rem(a, b), constant(a, 0)));
  return where(inexact_quotient, sub(quotient, constant(a, 1)), quotient);
}

// As Python's float divmod: the remainder has the divisor's sign, the quotient is whole.
Value float_floor_divide(const Value& a, const Value& b) {
  const Value left = rem(a, b);
  const Value difference = sub(a, left);
  const Value exact =
      select_n(eq(b, constant(b, 0)), {difference, broadcast_to(a, difference->shape())});
  const Value quotient = div(exact, b);
  const Value wrong_sign =
      logical_and(ne(left, constant(left, 0)), ne(unary("sign", b), unary("sign", left)));
  const Value adjusted = where(wrong_sign, sub(quotient, constant(quotient, 1)), quotient);
  return bind1(core_ops().round, {{"rounding_method", std::int64_t{0}}}, {adjusted});
}

Value remainder_of(const Value& a, const Value& b) {
  Value divisor = b;
  if (is_integer(a->dtype())) divisor = where(eq(b, constant(b, 0)), constants(b, 1), b);
  const Value left = rem(a, divisor);
  const Value zero = constant(left, 0);
  const Value wrong_sign =
      logical_and(ne(lt(left, zero), lt(divisor, constant(divisor, 0))), ne(left, zero));
  return where(wrong_sign, add(left, divisor), left);
}

Value floor_divide_of(const Value& a, const Value& b) {
  return is_integer(a->dtype()) ? integer_floor_divide(a, b) : float_floor_divide(a, b);
}

// Repeated squaring over the low six bits of the exponent, as JAX: 2^64 exceeds every integer type.
Value integer_power(const Value& base, const Value& exponent) {
  constexpr int bits = 6;
  const Value zero = constant(exponent, 0), one = constant(exponent, 1);
  const Value never = logical_and(eq(base, constant(base, 0)), ne(exponent, zero));
  Value result = where(never, constants(base, 0), constants(base, 1));
  Value square = base, rest = exponent;
  for (int i = 0; i < bits; ++i) {
    const Value odd = ne(logical_and(rest, one), zero);
    result = where(odd, mul(result, square), result);
    square = mul(square, square);
    rest = binary("shift_right_logical", rest, one);
  }
  return result;
}

Value bits_below_sign(const Value& a) {
  const int bits = itemsize(a->dtype()) * 8;
  DType integer = DType::int32;
  if (bits == 16) integer = DType::int16;
  if (bits == 64) integer = DType::int64;
  const Value raw = bind1(core_ops().bitcast_convert_type, {{"new_dtype", integer}}, {a});
  return lt(raw, scalar(integer, 0));
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Value add_promoted(const Value& a, const Value& b) {
  const Values in = promoted(a, b, Promote::any, "add");
  return in[0]->dtype() == DType::boolean ? logical_or(in[0], in[1]) : add(in[0], in[1]);
}

Value multiply_promoted(const Value& a, const Value& b) {
  const Values in = promoted(a, b, Promote::any, "mul");
  return in[0]->dtype() == DType::boolean ? logical_and(in[0], in[1]) : mul(in[0], in[1]);
}

Value floor_divide(const Value& a, const Value& b) {
  const Values in = promoted(a, b, Promote::numeric, "floor_divide");
  if (is_complex(in[0]->dtype())) type_error("floor_divide does not support complex-valued inputs");
  if (is_unsigned_integer(in[0]->dtype())) return div(in[0], in[1]);
  return jitted1("floor_divide", in, [](const Values& v) {
    const Values x = full_shape(v);
    return floor_divide_of(x[0], x[1]);
  });
}

Value remainder(const Value& a, const Value& b) {
  return jitted1("remainder", promoted(a, b, Promote::numeric, "rem"), [](const Values& v) {
    const Values x = full_shape(v);
    return remainder_of(x[0], x[1]);
  });
}

Value fmod(const Value& a, const Value& b) {
  const Values in = promoted_unnamed(a, b, Promote::numeric, "rem");
  const bool integers = is_integer(a->dtype()) || is_integer(b->dtype());
  if (!integers || !is_integer(in[0]->dtype())) return rem(in[0], in[1]);
  return jitted1("fmod", in, [](const Values& v) {
    return rem(v[0], where(eq(v[1], constant(v[1], 0)), constants(v[1], 1), v[1]));
  });
}

Values divmod(const Value& a, const Value& b) {
  return jitted("divmod", promoted(a, b, Promote::numeric, "divmod"),
                [](const Values& v) -> Values {
                  const Values x = full_shape(v);
                  return {floor_divide_of(x[0], x[1]), remainder_of(x[0], x[1])};
                });
}

Value power(const Value& a, const Value& b) {
  const Values in = promoted(a, b, Promote::numeric, "pow");
  if (is_integer(in[0]->dtype())) {
    return jitted1("power", strong(in), [](const Values& v) {
      const Values x = full_shape(v);
      return integer_power(x[0], x[1]);
    });
  }
  if (is_inexact(a->dtype()) && is_integer(b->dtype())) {
    return binary("pow", in[0], promote_shapes({in[0], b}, "pow")[1]);
  }
  return binary("pow", in[0], in[1]);
}

Value power(const Value& a, std::int64_t exponent) {
  return integer_pow(promote_dtypes({a}, Promote::numeric)[0], exponent);
}

Value less(const Value& a, const Value& b) { return ordered("lt", a, b); }
Value less_equal(const Value& a, const Value& b) { return ordered("le", a, b); }
Value greater(const Value& a, const Value& b) { return ordered("gt", a, b); }
Value greater_equal(const Value& a, const Value& b) { return ordered("ge", a, b); }

Value right_shift(const Value& a, const Value& b) {
  const Values in = promoted(a, b, Promote::numeric, "right_shift");
  const bool logical = is_unsigned_integer(in[0]->dtype());
  return binary(logical ? "shift_right_logical" : "shift_right_arithmetic", in[0], in[1]);
}

Value hypot(const Value& a, const Value& b) {
  const Values in = strong_arrays(promoted(a, b, Promote::inexact, "hypot"));
  if (is_complex(in[0]->dtype()))
    value_error("jnp.hypot is not well defined for complex-valued inputs");
  return jitted1("hypot", in, [](const Values& v) {
    const Value x = unary("abs", v[0]), y = unary("abs", v[1]);
    const Value infinite = logical_or(eq(x, constant(x, infinity)), eq(y, constant(y, infinity)));
    const Value large = max(x, y), small = min(x, y);
    const Value zero = eq(large, constant(large, 0));
    const Value ratio = div(small, where(zero, constants(large, 1), large));
    const Value size = mul(large, unary("sqrt", add(constant(ratio, 1), unary("square", ratio))));
    return where(infinite, constants(large, infinity), where(zero, large, size));
  });
}

Value copysign(const Value& a, const Value& b) {
  const Values in = promoted(a, b, Promote::inexact, "copysign");
  return jitted1("copysign", full_shape(in), [](const Values& v) {
    const Value size = unary("abs", v[0]);
    return where(bits_below_sign(v[1]), neg(size), size);
  });
}

Value heaviside(const Value& a, const Value& b) {
  const Values in = strong_arrays(promoted_unnamed(a, b, Promote::inexact, "heaviside"));
  if (is_complex(in[0]->dtype())) type_error("heaviside does not support complex-valued inputs");
  return jitted1("heaviside", in, [](const Values& v) {
    const Value zero = constant(v[0], 0);
    const Value at_zero = where(ne(v[0], v[0]), v[0], v[1]);
    const Value right = where(gt(v[0], zero), constants(v[0], 1), at_zero);
    return where(lt(v[0], zero), constants(v[0], 0), right);
  });
}

Value absolute(const Value& a) {
  if (a->dtype() == DType::boolean || is_unsigned_integer(a->dtype())) return a;
  return unary("abs", a);
}

Value reciprocal(const Value& a) { return integer_pow(inexact(a), -1); }

Value log2(const Value& a) {
  return in_one_pass("log2", inexact(a), [](const Value& x) {
    return of_parts(unary("log", x), [](const Value& part) {
      return div(part, scalar(part->dtype(), std::numbers::ln2));
    });
  });
}
Value log10(const Value& a) {
  return in_one_pass("log10", inexact(a), [](const Value& x) {
    return of_parts(unary("log", x), [](const Value& part) {
      return mul(part, scalar(part->dtype(), std::numbers::log10e));
    });
  });
}

Value trunc(const Value& a) {
  if (!is_inexact(a->dtype())) return a;
  return jitted1("trunc", {a}, [](const Values& v) {
    return where(lt(v[0], constant(v[0], 0)), unary("ceil", v[0]), unary("floor", v[0]));
  });
}

Value isnan(const Value& a) {
  return is_inexact(a->dtype()) ? ne(a, a)
                                : full(with_dtype(a->type(), DType::boolean, a->type().weak), 0);
}

Value isinf(const Value& a) {
  if (is_complex(a->dtype())) return logical_or(isinf(real(a)), isinf(imag(a)));
  if (!is_floating(a->dtype())) return full(with_dtype(a->type(), DType::boolean), 0);
  return jitted1("isinf", {a}, [](const Values& v) {
    return eq(unary("abs", v[0]), scalar(v[0]->dtype(), infinity));
  });
}

Value isfinite(const Value& a) {
  if (is_complex(a->dtype())) return logical_and(isfinite(real(a)), isfinite(imag(a)));
  if (!is_floating(a->dtype())) return full(with_dtype(a->type(), DType::boolean), 1);
  return unary("is_finite", a);
}

Value signbit(const Value& a) {
  if (is_complex(a->dtype())) value_error("signbit is not well defined for complex inputs.");
  if (!is_floating(a->dtype())) {
    if (!is_signed_integer(a->dtype())) return full(with_dtype(a->type(), DType::boolean), 0);
    return lt(a, scalar(a->dtype(), 0));
  }
  return jitted1("signbit", {a}, [](const Values& v) { return bits_below_sign(v[0]); });
}

Value real(const Value& a) { return is_complex(a->dtype()) ? unary("real", a) : a; }
Value imag(const Value& a) { return is_complex(a->dtype()) ? unary("imag", a) : constants(a, 0); }
Value conjugate(const Value& a) { return is_complex(a->dtype()) ? unary("conj", a) : a; }

Value truth(const Value& a) {
  if (is_key(a->dtype())) {
    type_error("a PRNG key of dtype ", name(a->dtype()),
               " is neither true nor false; jax.random.key_data gives its words.");
  }
  return a->dtype() == DType::boolean ? a : ne(a, constant(a, 0));
}

}  // namespace shardax::numpy
