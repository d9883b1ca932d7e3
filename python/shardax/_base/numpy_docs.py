"""shardax/_base/numpy_docs.py - documentation of the elementwise functions of jnp.

A text is a summary and an example; the kind of a function adds its operands, results and errors.
"""

# Operands, results and errors of a kind of functions. {x} stands for their parameters.
KINDS = {
    "compare": (
        "{x}: arrays or numbers that broadcast.",
        "Booleans in the broadcast shape.",
    ),
    "inexact": (
        "{x}: numbers of any shape; integers and booleans become float32.",
        "Floats or complex numbers in the shape of `{x}`.",
    ),
    "integer": (
        "{x}: integers or booleans of any shape.",
        "The shape and dtype of `{x}`.",
        "TypeError: for floats and complex numbers.",
    ),
    "integer_only": (
        "{x}: integers of any shape.",
        "uint8 in the shape of `{x}`.",
        "TypeError: for other numbers.",
    ),
    "number": (
        "{x}: numbers of any shape.",
        "An array of the same shape.",
    ),
    "pair": (
        "{x}: arrays or numbers that broadcast.",
        "The broadcast shape, of the dtype to which both promote.",
    ),
    "pair_float": (
        "{x}: real numbers that broadcast; integers and booleans become float32.",
        "Floats in the broadcast shape.",
    ),
    "pair_inexact": (
        "{x}: numbers that broadcast; integers and booleans become float32.",
        "Floats or complex numbers in the broadcast shape.",
    ),
    "pair_integer": (
        "{x}: integers or booleans that broadcast.",
        "The broadcast shape, of the dtype to which both promote.",
        "TypeError: for floats and complex numbers.",
    ),
    "pair_ordered": (
        "{x}: real numbers that broadcast.",
        "The broadcast shape, of the dtype to which both promote.",
        "TypeError: for complex numbers.",
    ),
    "pair_real": (
        "{x}: real numbers that broadcast; integers and booleans become float32.",
        "Floats in the broadcast shape.",
        "TypeError: for complex numbers.",
    ),
    "pair_real_value": (
        "{x}: real numbers that broadcast; integers and booleans become float32.",
        "Floats in the broadcast shape.",
        "ValueError: for complex numbers.",
    ),
    "real": (
        "{x}: real numbers of any shape; integers and booleans become float32.",
        "Floats in the shape of `{x}`.",
        "TypeError: for complex numbers.",
    ),
    "real_test": (
        "{x}: real numbers of any shape.",
        "Booleans in the shape of `{x}`.",
        "ValueError: for complex numbers.",
    ),
    "rounding": (
        "{x}: real numbers of any shape; integers stay as they are.",
        "The shape and dtype of `{x}`.",
        "TypeError: for complex numbers.",
    ),
    "test": (
        "{x}: numbers of any shape.",
        "Booleans in the shape of `{x}`.",
    ),
}

TEXTS = {
    "abs": (
        "number",
        """
        The absolute value, elementwise; |z| of complex numbers is real.

        >>> jnp.abs(jnp.array([-1, 2]))
        Array([1, 2], dtype=int32)
        >>> jnp.abs(3 + 4j)
        Array(5., dtype=float32, weak_type=True)
        """
    ),
    "absolute": (
        "number",
        """
        The absolute value, elementwise: `jnp.abs` by another name.

        >>> jnp.absolute(jnp.array([-1, 2]))
        Array([1, 2], dtype=int32)
        """
    ),
    "acos": (
        "inexact",
        """
        The angle in [0, pi] whose cosine is `x`, elementwise: `jnp.arccos` by another name.

        >>> jnp.acos(jnp.array([1.0, 0.0])).round(3)
        Array([0.   , 1.571], dtype=float32)
        """
    ),
    "acosh": (
        "inexact",
        """
        The inverse hyperbolic cosine, elementwise: `jnp.arccosh` by another name.

        >>> jnp.acosh(jnp.array([1.0, 2.0])).round(3)
        Array([0.   , 1.317], dtype=float32)
        """
    ),
    "add": (
        "pair",
        """
        The sum x1 + x2, elementwise; of booleans: whether one is true. It is what x1 + x2 computes.

        >>> jnp.add(jnp.array([1, 2]), jnp.array([[10], [20]]))
        Array([[11, 12],
               [21, 22]], dtype=int32)
        >>> jnp.add.reduce(jnp.array([1, 2, 3]))
        Array(6, dtype=int32)
        """
    ),
    "arccos": (
        "inexact",
        """
        The angle in [0, pi] whose cosine is `x`, elementwise; NaN beyond [-1, 1].

        >>> jnp.arccos(jnp.array([1.0, 0.0, 2.0])).round(3)
        Array([0.   , 1.571,   nan], dtype=float32)
        """
    ),
    "arccosh": (
        "inexact",
        """
        The inverse hyperbolic cosine, log(x + sqrt(x^2 - 1)), elementwise; NaN below 1.

        >>> jnp.arccosh(jnp.array([1.0, 2.0])).round(3)
        Array([0.   , 1.317], dtype=float32)
        """
    ),
    "arcsin": (
        "inexact",
        """
        The angle in [-pi/2, pi/2] whose sine is `x`, elementwise; NaN beyond [-1, 1].

        >>> jnp.arcsin(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 1.571], dtype=float32)
        """
    ),
    "arcsinh": (
        "inexact",
        """
        The inverse hyperbolic sine, log(x + sqrt(x^2 + 1)), elementwise.

        >>> jnp.arcsinh(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.881], dtype=float32)
        """
    ),
    "arctan": (
        "inexact",
        """
        The angle in (-pi/2, pi/2) whose tangent is `x`, elementwise.

        >>> jnp.arctan(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.785], dtype=float32)
        """
    ),
    "arctan2": (
        "pair_float",
        """
        The angle of the point (x2, x1) in the plane, elementwise, in (-pi, pi]: that of x1 / x2 in
        the right quadrant.

        >>> jnp.arctan2(jnp.array([1.0, -1.0]), jnp.array([-1.0, -1.0])).round(3)
        Array([ 2.356, -2.356], dtype=float32)
        """
    ),
    "arctanh": (
        "inexact",
        """
        The inverse hyperbolic tangent, log((1 + x) / (1 - x)) / 2, elementwise; NaN beyond [-1, 1].

        >>> jnp.arctanh(jnp.array([0.0, 0.5])).round(3)
        Array([0.   , 0.549], dtype=float32)
        """
    ),
    "asin": (
        "inexact",
        """
        The angle in [-pi/2, pi/2] whose sine is `x`, elementwise: `jnp.arcsin` by another name.

        >>> jnp.asin(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 1.571], dtype=float32)
        """
    ),
    "asinh": (
        "inexact",
        """
        The inverse hyperbolic sine, elementwise: `jnp.arcsinh` by another name.

        >>> jnp.asinh(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.881], dtype=float32)
        """
    ),
    "atan": (
        "inexact",
        """
        The angle in (-pi/2, pi/2) whose tangent is `x`, elementwise: `jnp.arctan` by another name.

        >>> jnp.atan(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.785], dtype=float32)
        """
    ),
    "atan2": (
        "pair_float",
        """
        The angle of the point (x2, x1) in the plane, elementwise: `jnp.arctan2` by another name.

        >>> jnp.atan2(1.0, -1.0).round(3)
        Array(2.356, dtype=float32, weak_type=True)
        """
    ),
    "atanh": (
        "inexact",
        """
        The inverse hyperbolic tangent, elementwise: `jnp.arctanh` by another name.

        >>> jnp.atanh(jnp.array([0.0, 0.5])).round(3)
        Array([0.   , 0.549], dtype=float32)
        """
    ),
    "bitwise_and": (
        "pair_integer",
        """
        The bits set in both operands, elementwise; of booleans: whether both are true. It is what
        x1 & x2 computes.

        >>> jnp.bitwise_and(jnp.array([5, 6]), 3)
        Array([1, 2], dtype=int32)
        """
    ),
    "bitwise_count": (
        "integer_only",
        """
        The number of bits set in |x|, elementwise.

        >>> jnp.bitwise_count(jnp.array([1, 7, -8]))
        Array([1, 3, 1], dtype=uint8)
        """
    ),
    "bitwise_invert": (
        "integer",
        """
        The complement, bit by bit; of booleans: not x. `jnp.invert` by another name.

        >>> jnp.bitwise_invert(jnp.array([0, 5]))
        Array([-1, -6], dtype=int32)
        """
    ),
    "bitwise_left_shift": (
        "pair_integer",
        """
        Bits moved to the left: `jnp.left_shift` by another name.

        >>> jnp.bitwise_left_shift(jnp.array([1, 3]), 2)
        Array([ 4, 12], dtype=int32)
        """
    ),
    "bitwise_not": (
        "integer",
        """
        The complement, bit by bit; of booleans: not x. `jnp.invert` by another name.

        >>> jnp.bitwise_not(jnp.array([0, 5]))
        Array([-1, -6], dtype=int32)
        """
    ),
    "bitwise_or": (
        "pair_integer",
        """
        The bits set in either operand, elementwise; of booleans: whether one is true. It is what x1
        | x2 computes.

        >>> jnp.bitwise_or(jnp.array([5, 6]), 3)
        Array([7, 7], dtype=int32)
        """
    ),
    "bitwise_right_shift": (
        "pair_integer",
        """
        Bits moved to the right: `jnp.right_shift` by another name.

        >>> jnp.bitwise_right_shift(jnp.array([8, -8]), 2)
        Array([ 2, -2], dtype=int32)
        """
    ),
    "bitwise_xor": (
        "pair_integer",
        """
        The bits set in one operand only, elementwise; of booleans: whether they differ. It is what
        x1 ^ x2 computes.

        >>> jnp.bitwise_xor(jnp.array([5, 6]), 3)
        Array([6, 5], dtype=int32)
        """
    ),
    "cbrt": (
        "real",
        """
        The cube root, elementwise, also of negative numbers.

        >>> jnp.cbrt(jnp.array([8.0, -27.0]))
        Array([ 2., -3.], dtype=float32)
        """
    ),
    "ceil": (
        "rounding",
        """
        The smallest integer not below each element, in its dtype.

        >>> jnp.ceil(jnp.array([1.2, -1.2, 2.0]))
        Array([ 2., -1.,  2.], dtype=float32)
        """
    ),
    "conj": (
        "number",
        """
        The complex conjugate, elementwise; real numbers stay as they are.

        >>> jnp.conj(jnp.array([1 + 2j, 3]))
        Array([1.-2.j, 3.-0.j], dtype=complex64)
        """
    ),
    "conjugate": (
        "number",
        """
        The complex conjugate, elementwise: `jnp.conj` by another name.

        >>> jnp.conjugate(jnp.array([1 + 2j, 3]))
        Array([1.-2.j, 3.-0.j], dtype=complex64)
        """
    ),
    "copysign": (
        "pair_real",
        """
        The size of `x1` with the sign of `x2`, elementwise.

        >>> jnp.copysign(jnp.array([1.0, -2.0]), jnp.array([-1.0, 0.0]))
        Array([-1.,  2.], dtype=float32)
        """
    ),
    "cos": (
        "inexact",
        """
        The cosine, elementwise, of angles in radians.

        >>> jnp.cos(jnp.array([0.0, jnp.pi / 3])).round(3)
        Array([1. , 0.5], dtype=float32)
        """
    ),
    "cosh": (
        "inexact",
        """
        The hyperbolic cosine, (e^x + e^-x) / 2, elementwise.

        >>> jnp.cosh(jnp.array([0.0, 1.0])).round(3)
        Array([1.   , 1.543], dtype=float32)
        """
    ),
    "deg2rad": (
        "inexact",
        """
        Angles in degrees as radians: x pi / 180.

        >>> jnp.deg2rad(jnp.array([0.0, 180.0])).round(3)
        Array([0.   , 3.142], dtype=float32)
        """
    ),
    "degrees": (
        "inexact",
        """
        Angles in radians as degrees: `jnp.rad2deg` by another name.

        >>> jnp.degrees(jnp.array([0.0, jnp.pi]))
        Array([  0., 180.], dtype=float32)
        """
    ),
    "divide": (
        "pair_inexact",
        """
        The quotient x1 / x2, elementwise. It is what x1 / x2 computes.

        >>> jnp.divide(jnp.array([1, 6]), 4)
        Array([0.25, 1.5 ], dtype=float32)
        >>> jnp.divide(jnp.array([1.0, 0.0]), 0.0)
        Array([inf, nan], dtype=float32)
        """
    ),
    "equal": (
        "compare",
        """
        Whether x == y, elementwise; NaN equals nothing.

        >>> jnp.equal(jnp.array([1, 2]), 2)
        Array([False,  True], dtype=bool)
        """
    ),
    "exp": (
        "inexact",
        """
        The exponential e^x, elementwise.

        >>> jnp.exp(jnp.array([0.0, 1.0, -jnp.inf])).round(3)
        Array([1.   , 2.718, 0.   ], dtype=float32)
        """
    ),
    "exp2": (
        "inexact",
        """
        The power 2^x, elementwise.

        >>> jnp.exp2(jnp.array([-1.0, 0.0, 3.0]))
        Array([0.5, 1. , 8. ], dtype=float32)
        """
    ),
    "expm1": (
        "inexact",
        """
        The function e^x - 1, elementwise, without the loss of digits near 0.

        >>> jnp.expm1(1e-8)
        Array(1.e-08, dtype=float32, weak_type=True)
        """
    ),
    "fabs": (
        "real",
        """
        The absolute value, elementwise, as floats.

        >>> jnp.fabs(jnp.array([-1, 2]))
        Array([1., 2.], dtype=float32)
        """
    ),
    "float_power": (
        "pair_inexact",
        """
        The power x ** y, elementwise, computed in floats.

        >>> jnp.float_power(jnp.array([2, 3]), -1).round(3)
        Array([0.5  , 0.333], dtype=float32)
        """
    ),
    "floor": (
        "rounding",
        """
        The largest integer not above each element, in its dtype.

        >>> jnp.floor(jnp.array([1.2, -1.2, 2.0]))
        Array([ 1., -2.,  2.], dtype=float32)
        """
    ),
    "floor_divide": (
        "pair_ordered",
        """
        The quotient rounded towards minus infinity, elementwise. It is what x1 // x2 computes.

        >>> jnp.floor_divide(jnp.array([7, -7]), 2)
        Array([ 3, -4], dtype=int32)
        """
    ),
    "fmod": (
        "pair_ordered",
        """
        The remainder of a division, elementwise, with the sign of the dividend `x1`, as C's fmod.

        >>> jnp.fmod(jnp.array([7, -7]), 3)
        Array([ 1, -1], dtype=int32)
        """
    ),
    "greater": (
        "compare",
        """
        Whether x > y, elementwise. Complex numbers are ordered by real, then imaginary part.

        >>> jnp.greater(jnp.array([1, 2, 3]), 2)
        Array([False, False,  True], dtype=bool)
        """
    ),
    "greater_equal": (
        "compare",
        """
        Whether x >= y, elementwise. Complex numbers are ordered by real, then imaginary part.

        >>> jnp.greater_equal(jnp.array([1, 2, 3]), 2)
        Array([False,  True,  True], dtype=bool)
        """
    ),
    "heaviside": (
        "pair_real",
        """
        Heaviside's step function: 0 where x1 < 0, x2 where x1 == 0, 1 where x1 > 0.

        >>> jnp.heaviside(jnp.array([-1.0, 0.0, 2.0]), 0.5)
        Array([0. , 0.5, 1. ], dtype=float32)
        """
    ),
    "hypot": (
        "pair_real_value",
        """
        The length sqrt(x1**2 + x2**2), elementwise, without overflow.

        >>> jnp.hypot(jnp.array([3.0, 1e30]), jnp.array([4.0, 0.0]))
        Array([5.e+00, 1.e+30], dtype=float32)
        """
    ),
    "imag": (
        "number",
        """
        The imaginary part, elementwise, as real numbers; 0 for real ones.

        >>> jnp.imag(jnp.array([1 + 2j, 3]))
        Array([2., 0.], dtype=float32)
        """
    ),
    "invert": (
        "integer",
        """
        The complement, bit by bit; of booleans: not x. It is what ~x computes.

        >>> jnp.invert(jnp.array([0, 5]))
        Array([-1, -6], dtype=int32)
        >>> ~jnp.array([True, False])
        Array([False,  True], dtype=bool)
        """
    ),
    "isfinite": (
        "test",
        """
        Whether each element is neither infinite nor NaN.

        >>> jnp.isfinite(jnp.array([1.0, jnp.inf, jnp.nan]))
        Array([ True, False, False], dtype=bool)
        """
    ),
    "isinf": (
        "test",
        """
        Whether each element is infinite.

        >>> jnp.isinf(jnp.array([1.0, -jnp.inf, jnp.nan]))
        Array([False,  True, False], dtype=bool)
        """
    ),
    "isnan": (
        "test",
        """
        Whether each element is NaN.

        >>> jnp.isnan(jnp.array([1.0, jnp.inf, jnp.nan]))
        Array([False, False,  True], dtype=bool)
        """
    ),
    "left_shift": (
        "pair_integer",
        """
        Bits moved to the left by y places, elementwise; 0 where y is the width or more, or
        negative. It is what x << y computes.

        >>> jnp.left_shift(jnp.array([1, 3]), 2)
        Array([ 4, 12], dtype=int32)
        """
    ),
    "less": (
        "compare",
        """
        Whether x < y, elementwise. Complex numbers are ordered by real, then imaginary part.

        >>> jnp.less(jnp.array([1, 2, 3]), 2)
        Array([ True, False, False], dtype=bool)
        """
    ),
    "less_equal": (
        "compare",
        """
        Whether x <= y, elementwise. Complex numbers are ordered by real, then imaginary part.

        >>> jnp.less_equal(jnp.array([1, 2, 3]), 2)
        Array([ True,  True, False], dtype=bool)
        """
    ),
    "log": (
        "inexact",
        """
        The natural logarithm, elementwise; -inf at 0, NaN below.

        >>> jnp.log(jnp.array([1.0, jnp.e, 0.0])).round(3)
        Array([  0.,   1., -inf], dtype=float32)
        """
    ),
    "log10": (
        "inexact",
        """
        The logarithm to base 10, elementwise; -inf at 0, NaN below.

        >>> jnp.log10(jnp.array([1.0, 100.0])).round(3)
        Array([0., 2.], dtype=float32)
        """
    ),
    "log1p": (
        "inexact",
        """
        The function log(1 + x), elementwise, without the loss of digits near 0.

        >>> jnp.log1p(1e-8)
        Array(1.e-08, dtype=float32, weak_type=True)
        """
    ),
    "log2": (
        "inexact",
        """
        The logarithm to base 2, elementwise; -inf at 0, NaN below.

        >>> jnp.log2(jnp.array([1.0, 8.0])).round(3)
        Array([0., 3.], dtype=float32)
        """
    ),
    "logical_and": (
        "compare",
        """
        Whether both operands are true (not 0), elementwise.

        >>> jnp.logical_and(jnp.array([True, False]), True)
        Array([ True, False], dtype=bool)
        """
    ),
    "logical_not": (
        "test",
        """
        Whether each element is 0 (False).

        >>> jnp.logical_not(jnp.array([0, 3]))
        Array([ True, False], dtype=bool)
        """
    ),
    "logical_or": (
        "compare",
        """
        Whether an operand is true (not 0), elementwise.

        >>> jnp.logical_or(jnp.array([True, False]), False)
        Array([ True, False], dtype=bool)
        """
    ),
    "logical_xor": (
        "compare",
        """
        Whether just one operand is true (not 0), elementwise.

        >>> jnp.logical_xor(jnp.array([True, False]), True)
        Array([False,  True], dtype=bool)
        """
    ),
    "maximum": (
        "pair",
        """
        The larger one of each pair; NaN where either is NaN. Where they are equal, they share the
        gradient.

        >>> jnp.maximum(jnp.array([1, 5]), 3)
        Array([3, 5], dtype=int32)
        """
    ),
    "minimum": (
        "pair",
        """
        The smaller one of each pair; NaN where either is NaN. Where they are equal, they share the
        gradient.

        >>> jnp.minimum(jnp.array([1, 5]), 3)
        Array([1, 3], dtype=int32)
        """
    ),
    "mod": (
        "pair_ordered",
        """
        The remainder of a division, elementwise, with the sign of the divisor: `jnp.remainder` by
        another name.

        >>> jnp.mod(jnp.array([7, -7]), 3)
        Array([1, 2], dtype=int32)
        """
    ),
    "multiply": (
        "pair",
        """
        The product x1 * x2, elementwise; of booleans: whether both are true. It is what x1 * x2
        computes.

        >>> jnp.multiply(jnp.array([1, 2]), jnp.array([[10], [20]]))
        Array([[10, 20],
               [20, 40]], dtype=int32)
        """
    ),
    "negative": (
        "number",
        """
        The negation -x, elementwise. It is what -x computes. Booleans have none (TypeError).

        >>> jnp.negative(jnp.array([1, -2]))
        Array([-1,  2], dtype=int32)
        """
    ),
    "nextafter": (
        "pair_real",
        """
        The next number of the dtype from `x` towards `y`, elementwise.

        >>> jnp.nextafter(1.0, 2.0) - 1 == 2.0**-23
        Array(True, dtype=bool, weak_type=True)
        """
    ),
    "not_equal": (
        "compare",
        """
        Whether x != y, elementwise.

        >>> jnp.not_equal(jnp.array([1, 2]), 2)
        Array([ True, False], dtype=bool)
        """
    ),
    "positive": (
        "number",
        """
        The operand itself. It is what +x computes.

        >>> jnp.positive(jnp.array([-1, 2]))
        Array([-1,  2], dtype=int32)
        """
    ),
    "pow": (
        "pair",
        """
        The power x1 ** x2, elementwise: `jnp.power` by another name.

        >>> jnp.pow(jnp.array([2, 3]), 2)
        Array([4, 9], dtype=int32)
        """
    ),
    "power": (
        "pair",
        """
        The power x1 ** x2, elementwise. A negative exponent that is a Python int needs a floating
        base.

        >>> jnp.power(jnp.array([2, 3]), 2)
        Array([4, 9], dtype=int32)
        >>> jnp.power(2.0, jnp.array([-1.0, 0.5])).round(3)
        Array([0.5  , 1.414], dtype=float32)
        """
    ),
    "rad2deg": (
        "inexact",
        """
        Angles in radians as degrees: x 180 / pi.

        >>> jnp.rad2deg(jnp.array([0.0, jnp.pi]))
        Array([  0., 180.], dtype=float32)
        """
    ),
    "radians": (
        "inexact",
        """
        Angles in degrees as radians: `jnp.deg2rad` by another name.

        >>> jnp.radians(jnp.array([0.0, 180.0])).round(3)
        Array([0.   , 3.142], dtype=float32)
        """
    ),
    "real": (
        "number",
        """
        The real part, elementwise, as real numbers.

        >>> jnp.real(jnp.array([1 + 2j, 3]))
        Array([1., 3.], dtype=float32)
        """
    ),
    "reciprocal": (
        "inexact",
        """
        The reciprocal 1 / x, elementwise.

        >>> jnp.reciprocal(jnp.array([2.0, 0.0]))
        Array([0.5, inf], dtype=float32)
        """
    ),
    "remainder": (
        "pair_ordered",
        """
        The remainder of a division, elementwise, with the sign of the divisor `x2`. It is what x1 %
        x2 computes.

        >>> jnp.remainder(jnp.array([7, -7]), 3)
        Array([1, 2], dtype=int32)
        """
    ),
    "right_shift": (
        "pair_integer",
        """
        Bits moved to the right by x2 places, elementwise; the sign of signed integers comes in. It
        is what x1 >> x2 computes.

        >>> jnp.right_shift(jnp.array([8, -8]), 2)
        Array([ 2, -2], dtype=int32)
        """
    ),
    "sign": (
        "number",
        """
        The sign, elementwise: -1, 0 or 1; z / |z| for complex numbers, NaN for NaN.

        >>> jnp.sign(jnp.array([-3.0, 0.0, 5.0]))
        Array([-1.,  0.,  1.], dtype=float32)
        """
    ),
    "signbit": (
        "real_test",
        """
        Whether the sign bit is set, elementwise, as it is for -0.0.

        >>> jnp.signbit(jnp.array([-1.0, 0.0, -0.0]))
        Array([ True, False,  True], dtype=bool)
        """
    ),
    "sin": (
        "inexact",
        """
        The sine, elementwise, of angles in radians.

        >>> jnp.sin(jnp.array([0.0, jnp.pi / 2]))
        Array([0., 1.], dtype=float32)
        """
    ),
    "sinh": (
        "inexact",
        """
        The hyperbolic sine, (e^x - e^-x) / 2, elementwise.

        >>> jnp.sinh(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 1.175], dtype=float32)
        """
    ),
    "sqrt": (
        "inexact",
        """
        The square root, elementwise; NaN for negative real numbers.

        >>> jnp.sqrt(jnp.array([4.0, 0.0, -1.0]))
        Array([ 2.,  0., nan], dtype=float32)
        """
    ),
    "square": (
        "number",
        """
        The square x * x, elementwise.

        >>> jnp.square(jnp.array([-2, 3]))
        Array([4, 9], dtype=int32)
        """
    ),
    "subtract": (
        "pair",
        """
        The difference x1 - x2, elementwise. It is what x1 - x2 computes. Booleans have none
        (TypeError).

        >>> jnp.subtract(jnp.array([10, 20]), jnp.array([1, 2]))
        Array([ 9, 18], dtype=int32)
        """
    ),
    "tan": (
        "inexact",
        """
        The tangent, elementwise, of angles in radians.

        >>> jnp.tan(jnp.array([0.0, jnp.pi / 4])).round(3)
        Array([0., 1.], dtype=float32)
        """
    ),
    "tanh": (
        "inexact",
        """
        The hyperbolic tangent, elementwise, from -1 to 1.

        >>> jnp.tanh(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.762], dtype=float32)
        """
    ),
    "true_divide": (
        "pair_inexact",
        """
        The quotient x1 / x2, elementwise: `jnp.divide` by another name.

        >>> jnp.true_divide(jnp.array([1, 6]), 4)
        Array([0.25, 1.5 ], dtype=float32)
        """
    ),
    "trunc": (
        "rounding",
        """
        The integer next to each element towards zero, in its dtype.

        >>> jnp.trunc(jnp.array([1.7, -1.7]))
        Array([ 1., -1.], dtype=float32)
        """
    ),
}
