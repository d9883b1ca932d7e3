"""shardax/_base/lax_docs.py - documentation of the elementwise functions of lax.

A text is a summary and an example; the kind of a function adds its operands, results and errors.
Functions of lax promote nothing: operands have one dtype, and shapes with as many dimensions.
"""

SAME = "of one dtype and, but for scalars and sizes of 1, one shape"

# Operands, results and errors of a kind of functions. {x} stands for their parameters.
KINDS = {
    "compare": (
        f"{{x}}: numbers {SAME}.",
        "Booleans in the broadcast shape.",
        "TypeError: dtypes or shapes differ; `jnp` promotes them.",
    ),
    "compare_ordered": (
        f"{{x}}: real numbers {SAME}.",
        "Booleans in the broadcast shape.",
        "TypeError: for complex numbers, or where dtypes or shapes differ.",
    ),
    "complex": (
        "{x}: complex numbers of any shape.",
        "Floats in the shape of `{x}`.",
        "TypeError: for real numbers.",
    ),
    "float": (
        "{x}: floats of any shape.",
        "The shape and dtype of `{x}`.",
        "TypeError: for integers and complex numbers.",
    ),
    "float_test": (
        "{x}: floats of any shape.",
        "Booleans in the shape of `{x}`.",
        "TypeError: for integers and complex numbers.",
    ),
    "inexact": (
        "{x}: floats or complex numbers of any shape.",
        "The shape and dtype of `{x}`.",
        "TypeError: for integers; `jnp` converts them.",
    ),
    "integer": (
        "{x}: integers or booleans of any shape.",
        "The shape and dtype of `{x}`.",
        "TypeError: for floats and complex numbers.",
    ),
    "integer_only": (
        "{x}: integers of any shape.",
        "The shape and dtype of `{x}`.",
        "TypeError: for other numbers.",
    ),
    "number": (
        "{x}: numbers of any shape.",
        "An array of the same shape.",
        "TypeError: for booleans and nested sequences.",
    ),
    "pair": (
        f"{{x}}: numbers {SAME}.",
        "The broadcast shape, of that dtype.",
        "TypeError: dtypes or shapes differ; `jnp` promotes them.",
    ),
    "pair_float": (
        f"{{x}}: floats {SAME}.",
        "Floats in the broadcast shape.",
        "TypeError: for other numbers, or where dtypes or shapes differ.",
    ),
    "pair_inexact": (
        f"{{x}}: floats or complex numbers {SAME}.",
        "The broadcast shape, of that dtype.",
        "TypeError: for integers, or where dtypes or shapes differ.",
    ),
    "pair_integer": (
        f"{{x}}: integers or booleans {SAME}.",
        "The broadcast shape, of that dtype.",
        "TypeError: for other numbers, or where dtypes or shapes differ.",
    ),
    "pair_integer_only": (
        f"{{x}}: integers {SAME}.",
        "The broadcast shape, of that dtype.",
        "TypeError: for other numbers, or where dtypes or shapes differ.",
    ),
    "pair_ordered": (
        f"{{x}}: real numbers {SAME}.",
        "The broadcast shape, of that dtype.",
        "TypeError: for complex numbers, or where dtypes or shapes differ.",
    ),
    "pair_part": (
        f"{{x}}: floats {SAME}; 32 or 64 bits.",
        "complex64 or complex128 in the broadcast shape.",
        "TypeError: for other numbers, or where dtypes or shapes differ.",
    ),
    "pair_power": (
        "x, y: floats or complex numbers of one dtype, or integers as `y`; shapes are the same.",
        "The shape and dtype of `x`.",
        "TypeError: for integers as `x`, or where dtypes or shapes differ.",
    ),
    "to_complex": (
        "{x}: floats or complex numbers of any shape.",
        "Complex numbers in the shape of `{x}`.",
        "TypeError: for integers.",
    ),
}

TEXTS = {
    "abs": (
        "number",
        """
        The absolute value, elementwise; |z| of complex numbers is real.

        >>> lax.abs(jnp.array([-1, 2]))
        Array([1, 2], dtype=int32)
        """
    ),
    "acos": (
        "inexact",
        """
        The angle in [0, pi] whose cosine is `x`, elementwise; NaN beyond [-1, 1].

        >>> lax.acos(jnp.array([1.0, 0.0])).round(3)
        Array([0.   , 1.571], dtype=float32)
        """
    ),
    "acosh": (
        "inexact",
        """
        The inverse hyperbolic cosine, elementwise; NaN below 1.

        >>> lax.acosh(jnp.array([1.0, 2.0])).round(3)
        Array([0.   , 1.317], dtype=float32)
        """
    ),
    "add": (
        "pair",
        """
        The sum x + y, elementwise.

        >>> lax.add(jnp.array([1, 2]), jnp.array([3, 4]))
        Array([4, 6], dtype=int32)
        """
    ),
    "asin": (
        "inexact",
        """
        The angle in [-pi/2, pi/2] whose sine is `x`, elementwise; NaN beyond [-1, 1].

        >>> lax.asin(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 1.571], dtype=float32)
        """
    ),
    "asinh": (
        "inexact",
        """
        The inverse hyperbolic sine, elementwise.

        >>> lax.asinh(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.881], dtype=float32)
        """
    ),
    "atan": (
        "inexact",
        """
        The angle in (-pi/2, pi/2) whose tangent is `x`, elementwise.

        >>> lax.atan(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.785], dtype=float32)
        """
    ),
    "atan2": (
        "pair_inexact",
        """
        The angle of the point (y, x) in the plane, elementwise, in (-pi, pi]: that of x / y in the
        right quadrant.

        >>> lax.atan2(1.0, -1.0).round(3)
        Array(2.356, dtype=float32, weak_type=True)
        """
    ),
    "atanh": (
        "inexact",
        """
        The inverse hyperbolic tangent, elementwise; NaN beyond [-1, 1].

        >>> lax.atanh(jnp.array([0.0, 0.5])).round(3)
        Array([0.   , 0.549], dtype=float32)
        """
    ),
    "bessel_i0e": (
        "float",
        """
        The modified Bessel function of the first kind of order 0, times e^-|x|, elementwise.

        >>> lax.bessel_i0e(jnp.array([0.0, 1.0])).round(3)
        Array([1.   , 0.466], dtype=float32)
        """
    ),
    "bessel_i1e": (
        "float",
        """
        The modified Bessel function of the first kind of order 1, times e^-|x|, elementwise.

        >>> lax.bessel_i1e(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.208], dtype=float32)
        """
    ),
    "betainc": (
        "pair_float",
        """
        The regularized incomplete beta function, elementwise: the share of the beta distribution
        with parameters `a`, `b` > 0 in [0, x].

        >>> lax.betainc(2.0, 3.0, 0.5).round(4)
        Array(0.6875, dtype=float32, weak_type=True)
        """
    ),
    "bitwise_and": (
        "pair_integer",
        """
        The bits set in both operands, elementwise; of booleans: whether both are true.

        >>> lax.bitwise_and(jnp.array([5, 6]), 3)
        Array([1, 2], dtype=int32)
        """
    ),
    "bitwise_not": (
        "integer",
        """
        The complement, bit by bit; of booleans: not x.

        >>> lax.bitwise_not(jnp.array([0, 5]))
        Array([-1, -6], dtype=int32)
        """
    ),
    "bitwise_or": (
        "pair_integer",
        """
        The bits set in either operand, elementwise; of booleans: whether one is true.

        >>> lax.bitwise_or(jnp.array([5, 6]), 3)
        Array([7, 7], dtype=int32)
        """
    ),
    "bitwise_xor": (
        "pair_integer",
        """
        The bits set in one operand only, elementwise; of booleans: whether they differ.

        >>> lax.bitwise_xor(jnp.array([5, 6]), 3)
        Array([6, 5], dtype=int32)
        """
    ),
    "cbrt": (
        "float",
        """
        The cube root, elementwise, also of negative numbers.

        >>> lax.cbrt(jnp.array([8.0, -27.0]))
        Array([ 2., -3.], dtype=float32)
        """
    ),
    "ceil": (
        "float",
        """
        The smallest integer not below each element, in its dtype.

        >>> lax.ceil(jnp.array([1.2, -1.2]))
        Array([ 2., -1.], dtype=float32)
        """
    ),
    "clz": (
        "integer_only",
        """
        The number of zero bits above the highest 1, elementwise.

        >>> lax.clz(jnp.array([0, 1, 255]))
        Array([32, 31, 24], dtype=int32)
        """
    ),
    "complex": (
        "pair_part",
        """
        Complex numbers of real and imaginary parts.

        >>> lax.complex(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0]))
        Array([1.+3.j, 2.+4.j], dtype=complex64)
        """
    ),
    "conj": (
        "to_complex",
        """
        The complex conjugate, elementwise; real numbers become complex.

        >>> lax.conj(jnp.array([1 + 2j, 3]))
        Array([1.-2.j, 3.-0.j], dtype=complex64)
        """
    ),
    "cos": (
        "inexact",
        """
        The cosine, elementwise, of angles in radians.

        >>> lax.cos(jnp.array([0.0, jnp.pi / 3])).round(3)
        Array([1. , 0.5], dtype=float32)
        """
    ),
    "cosh": (
        "inexact",
        """
        The hyperbolic cosine, elementwise.

        >>> lax.cosh(jnp.array([0.0, 1.0])).round(3)
        Array([1.   , 1.543], dtype=float32)
        """
    ),
    "digamma": (
        "float",
        """
        The derivative of the logarithm of the gamma function, elementwise; NaN at 0, -1, -2 ...

        >>> lax.digamma(jnp.array([1.0, 2.0])).round(3)
        Array([-0.577,  0.423], dtype=float32)
        """
    ),
    "div": (
        "pair",
        """
        The quotient x / y, elementwise; integers are rounded towards zero.

        >>> lax.div(jnp.array([7, -7]), 2)
        Array([ 3, -3], dtype=int32)
        >>> lax.div(7.0, 2.0)
        Array(3.5, dtype=float32, weak_type=True)
        """
    ),
    "eq": (
        "compare",
        """
        Whether x == y, elementwise; NaN equals nothing.

        >>> lax.eq(jnp.array([1, 2]), 2)
        Array([False,  True], dtype=bool)
        """
    ),
    "erf": (
        "float",
        """
        The error function 2 / sqrt(pi) * integral of e^-t^2 from 0 to x, elementwise.

        >>> lax.erf(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.843], dtype=float32)
        """
    ),
    "erf_inv": (
        "float",
        """
        The inverse of the error function, elementwise; infinite at -1 and 1, NaN beyond.

        >>> lax.erf_inv(jnp.array([0.0, 0.5, 1.0])).round(3)
        Array([0.   , 0.477,   inf], dtype=float32)
        """
    ),
    "erfc": (
        "float",
        """
        The complementary error function 1 - erf(x), elementwise, exact for large `x`.

        >>> lax.erfc(jnp.array([0.0, 1.0])).round(3)
        Array([1.   , 0.157], dtype=float32)
        """
    ),
    "exp": (
        "inexact",
        """
        The exponential e^x, elementwise.

        >>> lax.exp(jnp.array([0.0, 1.0])).round(3)
        Array([1.   , 2.718], dtype=float32)
        """
    ),
    "exp2": (
        "inexact",
        """
        The power 2^x, elementwise.

        >>> lax.exp2(jnp.array([-1.0, 3.0]))
        Array([0.5, 8. ], dtype=float32)
        """
    ),
    "expm1": (
        "inexact",
        """
        The function e^x - 1, elementwise, without the loss of digits near 0.

        >>> lax.expm1(1e-8)
        Array(1.e-08, dtype=float32, weak_type=True)
        """
    ),
    "floor": (
        "float",
        """
        The largest integer not above each element, in its dtype.

        >>> lax.floor(jnp.array([1.2, -1.2]))
        Array([ 1., -2.], dtype=float32)
        """
    ),
    "gamma_variate": (
        "pair_float",
        """
        The draw `y` from the gamma distribution with parameter `x`, or its logarithm: the value is
        `y`, the derivative by `x` that of the draw.

        >>> lax.gamma_variate(2.0, 3.0)
        Array(3., dtype=float32, weak_type=True)
        """
    ),
    "ge": (
        "compare_ordered",
        """
        Whether x >= y, elementwise.

        >>> lax.ge(jnp.array([1, 2, 3]), 2)
        Array([False,  True,  True], dtype=bool)
        """
    ),
    "gt": (
        "compare_ordered",
        """
        Whether x > y, elementwise.

        >>> lax.gt(jnp.array([1, 2, 3]), 2)
        Array([False, False,  True], dtype=bool)
        """
    ),
    "igamma": (
        "pair_float",
        """
        The regularized lower incomplete gamma function, elementwise: the share of the gamma
        distribution with parameter `a` > 0 below `x` >= 0.

        >>> lax.igamma(2.0, 1.0).round(4)
        Array(0.2642, dtype=float32, weak_type=True)
        """
    ),
    "igamma_grad_a": (
        "pair_float",
        """
        The derivative of `lax.igamma(a, x)` by `a`, elementwise.

        >>> lax.igamma_grad_a(2.0, 1.0).round(4)
        Array(-0.2762, dtype=float32, weak_type=True)
        """
    ),
    "igammac": (
        "pair_float",
        """
        The regularized upper incomplete gamma function, 1 - igamma(a, x), elementwise, without the
        loss of digits.

        >>> lax.igammac(2.0, 1.0).round(4)
        Array(0.7358, dtype=float32, weak_type=True)
        """
    ),
    "imag": (
        "complex",
        """
        The imaginary part, elementwise, as floats.

        >>> lax.imag(jnp.array([1 + 2j, 3]))
        Array([2., 0.], dtype=float32)
        """
    ),
    "is_finite": (
        "float_test",
        """
        Whether each element is neither infinite nor NaN.

        >>> lax.is_finite(jnp.array([1.0, jnp.inf, jnp.nan]))
        Array([ True, False, False], dtype=bool)
        """
    ),
    "le": (
        "compare_ordered",
        """
        Whether x <= y, elementwise.

        >>> lax.le(jnp.array([1, 2, 3]), 2)
        Array([ True,  True, False], dtype=bool)
        """
    ),
    "lgamma": (
        "float",
        """
        The logarithm of |gamma(x)|, elementwise; inf at 0, -1, -2 ...

        >>> lax.lgamma(jnp.array([1.0, 5.0])).round(3)
        Array([0.   , 3.178], dtype=float32)
        """
    ),
    "log": (
        "inexact",
        """
        The natural logarithm, elementwise; -inf at 0, NaN below.

        >>> lax.log(jnp.array([1.0, 2.0])).round(3)
        Array([0.   , 0.693], dtype=float32)
        """
    ),
    "log1p": (
        "inexact",
        """
        The function log(1 + x), elementwise, without the loss of digits near 0.

        >>> lax.log1p(1e-8)
        Array(1.e-08, dtype=float32, weak_type=True)
        """
    ),
    "logistic": (
        "inexact",
        """
        The logistic function 1 / (1 + e^-x), elementwise.

        >>> lax.logistic(jnp.array([0.0, 2.0])).round(3)
        Array([0.5  , 0.881], dtype=float32)
        """
    ),
    "lt": (
        "compare_ordered",
        """
        Whether x < y, elementwise.

        >>> lax.lt(jnp.array([1, 2, 3]), 2)
        Array([ True, False, False], dtype=bool)
        """
    ),
    "max": (
        "pair",
        """
        The larger one of each pair; NaN where either is NaN. Where they are equal, they share the
        gradient.

        >>> lax.max(jnp.array([1, 5]), 3)
        Array([3, 5], dtype=int32)
        """
    ),
    "min": (
        "pair",
        """
        The smaller one of each pair; NaN where either is NaN. Where they are equal, they share the
        gradient.

        >>> lax.min(jnp.array([1, 5]), 3)
        Array([1, 3], dtype=int32)
        """
    ),
    "mul": (
        "pair",
        """
        The product x * y, elementwise.

        >>> lax.mul(jnp.array([1, 2]), jnp.array([3, 4]))
        Array([3, 8], dtype=int32)
        """
    ),
    "mulhi": (
        "pair_integer_only",
        """
        The upper half of the bits of the product of two integers, elementwise.

        >>> lax.mulhi(jnp.int32(2**30), jnp.int32(8))
        Array(2, dtype=int32)
        """
    ),
    "ne": (
        "compare",
        """
        Whether x != y, elementwise.

        >>> lax.ne(jnp.array([1, 2]), 2)
        Array([ True, False], dtype=bool)
        """
    ),
    "neg": (
        "number",
        """
        The negation -x, elementwise.

        >>> lax.neg(jnp.array([1, -2]))
        Array([-1,  2], dtype=int32)
        """
    ),
    "nextafter": (
        "pair_float",
        """
        The next number of the dtype from the first operand towards the second one, elementwise.

        >>> lax.nextafter(1.0, 2.0) - 1 == 2.0**-23
        Array(True, dtype=bool, weak_type=True)
        """
    ),
    "polygamma": (
        "pair_float",
        """
        The m-th derivative of the digamma function at `x`, elementwise.

        >>> lax.polygamma(1.0, 1.0).round(3)
        Array(1.645, dtype=float32, weak_type=True)
        """
    ),
    "population_count": (
        "integer_only",
        """
        The number of bits that are 1, elementwise.

        >>> lax.population_count(jnp.array([1, 7, -1]))
        Array([ 1,  3, 32], dtype=int32)
        """
    ),
    "pow": (
        "pair_power",
        """
        The power x ** y, elementwise.

        >>> lax.pow(jnp.array([2.0, 3.0]), 2)
        Array([4., 9.], dtype=float32)
        """
    ),
    "random_gamma_grad": (
        "pair_float",
        """
        The derivative of a draw `x` from the gamma distribution by its parameter `a`, elementwise.

        >>> lax.random_gamma_grad(2.0, 1.0).round(3)
        Array(0.751, dtype=float32, weak_type=True)
        """
    ),
    "random_gamma_grad_a": (
        "pair_float",
        """
        The derivative of `lax.random_gamma_grad` by its first operand, elementwise.

        >>> lax.random_gamma_grad_a(2.0, 1.0).shape
        ()
        """
    ),
    "real": (
        "complex",
        """
        The real part, elementwise, as floats.

        >>> lax.real(jnp.array([1 + 2j, 3]))
        Array([1., 3.], dtype=float32)
        """
    ),
    "rem": (
        "pair_ordered",
        """
        The remainder of a division, elementwise, with the sign of the dividend, as C's fmod.

        >>> lax.rem(jnp.array([7, -7]), 3)
        Array([ 1, -1], dtype=int32)
        """
    ),
    "rsqrt": (
        "inexact",
        """
        The reciprocal square root 1 / sqrt(x), elementwise; inf at 0, NaN below.

        >>> lax.rsqrt(jnp.array([4.0, 0.25]))
        Array([0.5, 2. ], dtype=float32)
        """
    ),
    "shift_left": (
        "pair_integer_only",
        """
        Bits moved to the left by y places, elementwise; 0 where y is the width or more.

        >>> lax.shift_left(jnp.array([1, 3]), 2)
        Array([ 4, 12], dtype=int32)
        """
    ),
    "shift_right_arithmetic": (
        "pair_integer_only",
        """
        Bits moved to the right by y places, elementwise; copies of the top bit come in.

        >>> lax.shift_right_arithmetic(jnp.array([8, -8]), 2)
        Array([ 2, -2], dtype=int32)
        """
    ),
    "shift_right_logical": (
        "pair_integer_only",
        """
        Bits moved to the right by y places, elementwise; zeros come in.

        >>> lax.shift_right_logical(jnp.array([8, -8]), 2)
        Array([         2, 1073741822], dtype=int32)
        """
    ),
    "sign": (
        "number",
        """
        The sign, elementwise: -1, 0 or 1; z / |z| for complex numbers.

        >>> lax.sign(jnp.array([-3.0, 0.0, 5.0]))
        Array([-1.,  0.,  1.], dtype=float32)
        """
    ),
    "sin": (
        "inexact",
        """
        The sine, elementwise, of angles in radians.

        >>> lax.sin(jnp.array([0.0, jnp.pi / 2]))
        Array([0., 1.], dtype=float32)
        """
    ),
    "sinh": (
        "inexact",
        """
        The hyperbolic sine, elementwise.

        >>> lax.sinh(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 1.175], dtype=float32)
        """
    ),
    "sqrt": (
        "inexact",
        """
        The square root, elementwise; NaN for negative real numbers. Its derivative at 0 is inf.

        >>> lax.sqrt(jnp.array([4.0, 2.25]))
        Array([2. , 1.5], dtype=float32)
        """
    ),
    "square": (
        "number",
        """
        The square x * x, elementwise.

        >>> lax.square(jnp.array([-2, 3]))
        Array([4, 9], dtype=int32)
        """
    ),
    "sub": (
        "pair",
        """
        The difference x - y, elementwise.

        >>> lax.sub(jnp.array([10, 20]), jnp.array([1, 2]))
        Array([ 9, 18], dtype=int32)
        """
    ),
    "tan": (
        "inexact",
        """
        The tangent, elementwise, of angles in radians.

        >>> lax.tan(jnp.array([0.0, jnp.pi / 4])).round(3)
        Array([0., 1.], dtype=float32)
        """
    ),
    "tanh": (
        "inexact",
        """
        The hyperbolic tangent, elementwise, from -1 to 1.

        >>> lax.tanh(jnp.array([0.0, 1.0])).round(3)
        Array([0.   , 0.762], dtype=float32)
        """
    ),
    "zeta": (
        "pair_float",
        """
        The Hurwitz zeta function, elementwise: the sum over k >= 0 of (q + k)^-x.

        >>> lax.zeta(2.0, 1.0).round(3)
        Array(1.645, dtype=float32, weak_type=True)
        """
    ),
}
