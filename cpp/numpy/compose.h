// numpy/compose.h - jnp functions that are made of several ops, or choose their op by dtype.
//
// They take operands of any dtypes and shapes, and promote and broadcast them as jnp does.
// Functions of more than about three ops run as one jitted call, as JAX's do.
#pragma once

#include "numpy/promote.h"

namespace shardax::numpy {

// Arithmetic. Division by zero of integers gives -1 (floor_divide: -1 or -2) and remainder 0.
Value add_promoted(const Value& a, const Value& b);       // bool: or
Value multiply_promoted(const Value& a, const Value& b);  // bool: and
Value floor_divide(const Value& a, const Value& b);
Value remainder(const Value& a, const Value& b);  // the sign of the divisor
Value fmod(const Value& a, const Value& b);       // the sign of the dividend
Values divmod(const Value& a, const Value& b);
// Integers of both kinds multiply repeatedly; a float raised to integers is differentiable at 0.
Value power(const Value& a, const Value& b);
Value power(const Value& a, std::int64_t exponent);  // integer_pow
Value right_shift(const Value& a, const Value& b);   // arithmetic for signed integers
Value matmul(const Value& a, const Value& b);
// Complex numbers are ordered by their real parts, then by the imaginary ones.
Value less(const Value& a, const Value& b);
Value less_equal(const Value& a, const Value& b);
Value greater(const Value& a, const Value& b);
Value greater_equal(const Value& a, const Value& b);
Value hypot(const Value& a, const Value& b);
Value copysign(const Value& a, const Value& b);
Value heaviside(const Value& a, const Value& b);

// One operand.
Value absolute(const Value& a);  // bool and unsigned: unchanged
Value reciprocal(const Value& a);
Value log2(const Value& a);
Value log10(const Value& a);
Value trunc(const Value& a);
Value isnan(const Value& a);
Value isinf(const Value& a);
Value isfinite(const Value& a);
Value signbit(const Value& a);
Value real(const Value& a);
Value imag(const Value& a);
Value conjugate(const Value& a);

// Truth values.
Value truth(const Value& a);  // a != 0

}  // namespace shardax::numpy
