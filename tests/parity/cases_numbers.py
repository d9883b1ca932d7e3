"""tests/parity/cases_numbers.py - number semantics: casts, weak types, integer division, overflow, NaN, rounding, kinks."""

import numpy as np

import corpus as parity


def setup(names):
    jax, jnp = names["jax"], names["jnp"]
    names.update(
        grad=jax.grad,
        c=lambda *shape: jnp.cos(jnp.arange(np.prod(shape), dtype=np.float32)).reshape(shape),
        hard=jnp.array(
            [np.nan, np.inf, -np.inf, 3e9, -3e9, 300.7, -300.7, 0.5, -0.5, 2.5], "float32"
        ),
        ends={d: np.array([np.iinfo(d).min, np.iinfo(d).max, 0, 1, 7], d) for d in parity.INTEGERS},
        ALL=(
            "bool",
            "int8",
            "int16",
            "int32",
            "uint8",
            "uint16",
            "uint32",
            "float16",
            "bfloat16",
            "float32",
            "complex64",
        ),
        s=jnp.array([-4, -3, -1, 0, 1, 3, 4], jnp.int32),
        sf=jnp.array([-4, -3.5, -1, 0, 1, 3.5, 4], jnp.float32),
        k=jnp.array([0.0, -0.0, 1.0, -1.0]),
    )


corpus = parity.Corpus(setup)

corpus.expressions("""
[hard.astype(d) for d in ALL]
[hard.astype('bfloat16').astype(d) for d in ALL]
[hard.astype('float16').astype(d) for d in ALL]
[[jnp.asarray(v).astype(d) for d in ALL] for v in ends.values()]
[jnp.asarray(c4).astype(d) for d in ALL if d != 'complex64']
[b4.astype(d) for d in ALL]
[jnp.array(v, d) for v in (0, 1) for d in ALL]
jnp.array([300, -1], 'uint8') !!
jnp.array([1.9, -1.9], 'int32')
jnp.array([np.nan], 'int32') !! cannot convert float NaN to integer
jnp.array(2**31) !! Python int 2147483648 too large to convert to int32
jnp.array(2**40) !! Python int 1099511627776 too large to convert to int32
jnp.array(-2**31 - 1) !! Python int -2147483649 too large
jnp.array(2**31, 'uint32')
jnp.array(2**32, 'uint32') !!
jnp.array(-1, 'uint32') !!
jnp.array(300, 'uint8') !!
jnp.array(200, 'int8') !!
jnp.asarray(2.5, 'int32')
jnp.array(1e40)
jnp.array(1e400)
jnp.array(np.float64(1e300))
jnp.array(np.int64(2**40))
jnp.array(np.array([2**40, 2**31, -2**31 - 1]))
jnp.array(np.array([2**63], 'uint64'))
f4 + 2**40 !!
i4 + 2**31 !!
i4 + 2**31 - 1 !!
u4 + 300
u4 + (-1)
u4 * 1000
jnp.int8([100]) + 100
jnp.int8([-128]) * -1
-jnp.int8([-128])
abs(jnp.int8([-128, -127]))
jnp.int32([2**31 - 1]) + 1
jnp.int32([-2**31]) - 1
jnp.int32([-2**31]) // -1
jnp.int32([-2**31]) % -1
jnp.int32([2**31 - 1]) * 2
jnp.uint32([0]) - 1
jnp.uint8([200]) + jnp.uint8(100)
jnp.int16([300]) * jnp.int16(300)
jnp.int32(7) ** 20
i4 ** 2
i4 ** -1 !! Integers cannot be raised to negative powers, got integer_pow\\(int32\\[4\\], -1\\)
i4 ** jnp.int32([0, 1, 2, -1])
u4 ** u4
2 ** i4
2.0 ** i4
i4 ** 0.5
f4 ** -1
f4 ** 0
jnp.float32([0, -0.0, np.nan, np.inf]) ** 0
jnp.float32([0, -0.0, -1, -2]) ** -1
jnp.float32([-8, -2, 0]) ** (1 / 3)
jnp.float32([1, np.nan, -1]) ** jnp.float32([np.nan, 0, np.inf])
i4 // 0
s // 0
-s // 0
i4 % 0
s % 0
[s // 2, s // -2, s % 2, s % -2, s // 3, s % 3, s // -3, s % -3]
[sf // 2, sf // -2, sf % 2, sf % -2, sf // 0.3, sf % 0.3]
[divmod(s, 3), divmod(sf, 3), divmod(s, -3), divmod(sf, -3)]
[f4 / 0, -f4 / 0, f4 // 0, f4 % 0, -f4 // 0, -f4 % 0]
[i4 / 0, i4 / i4, s / 2, u4 / 2, b4 / 2, i4 / 2.5]
[jnp.mod(s, 3), jnp.fmod(s, 3), jnp.remainder(s, -3), jnp.fmod(s, -3), lax.rem(s, jnp.full_like(s, 3)), lax.div(s, jnp.full_like(s, 3))]
[jnp.mod(sf, 3), jnp.fmod(sf, 3), jnp.fmod(sf, -3), lax.rem(sf, jnp.full_like(sf, 3))]
[lax.div(s, jnp.zeros_like(s)), lax.rem(s, jnp.zeros_like(s)), lax.div(i4.astype('uint8'), jnp.zeros(4, 'uint8')), lax.rem(i4.astype('uint8'), jnp.zeros(4, 'uint8'))]
[u4 // 0, u4 % 0, jnp.int8([5, -5]) // 0, jnp.int8([5, -5]) % 0, jnp.int16([5, -5]) // 0]
[jnp.float32([np.inf, -np.inf, np.nan]) // 2, jnp.float32([5, -5]) // jnp.inf, jnp.float32([5, -5]) % jnp.inf, jnp.float32([np.inf]) % 2]
[i4 << 1, i4 << 31, i4 << 32, i4 << 40, i4 >> 32, s >> 1, s >> 40, u4 << 7, u4 << 8, u4 >> 9]
[i4 << -1, i4 >> -1, lax.shift_right_logical(s, jnp.full_like(s, 1)), lax.shift_right_logical(s, jnp.full_like(s, 33))]
[jnp.int8([-128, 127]) >> 1, jnp.uint8([255]) >> 1, jnp.int8([127]) << 1]
[~i4, ~u4, ~b4, i4 & -2, u4 ^ 255, b4 ^ True, b4 & 1]
""")

corpus.expressions("""
[i4 + np.float16(1), h4 + jnp.float16(1), i4 + jnp.uint32(1), jnp.int8(1) + jnp.uint8(1), jnp.int16(1) + jnp.uint16(1), jnp.int8(1) + jnp.uint32(1)]
[h4 + 2.0, h4 + 2, h4 * np.float32(2), h4 * np.float64(2), jnp.float16([1]) * np.float64(2), jnp.float16([1]) * np.float32(2), jnp.float16([1]) * np.int64(2)]
[u4 + True, u4 + np.int8(1), u4 + np.uint8(1), u4 + np.int64(1), b4 + b4, b4 * 2.5, b4 + 1, b4 + 1j, True + b4]
[jnp.int8([1]) * 2.0, jnp.int8([1]) * wf, jnp.uint8([1]) + wi, wi + wf, wf * True, wi * 2, wi / 2, wf + 1j]
[i4 ** 2., i4 * 1., i4 + 1j, h4 + 1j, f4 + np.complex128(1j), f4 + np.complex64(1j)]
[jnp.asarray(1.), jnp.full((2,), 1.), jnp.full((2,), 1), jnp.ones_like(1.), jnp.zeros_like(1), jnp.exp(1.), jnp.maximum(1, 2), jnp.clip(i4, .5, 2.5), jnp.stack([1., 2.])]
[jnp.arange(3), jnp.arange(3.), jnp.linspace(0, 1, 3), jnp.zeros(2), jnp.full_like(f4, 1), jnp.array([1, 2]), jnp.mean(f4), jnp.concatenate([f4, f4]), jnp.hstack([1., 2.])]
[jnp.where(b4, 1, 2), jnp.where(b4, 1., 2), jnp.where(b4, f4, 2), jnp.where(b4, i4, 2.5), jnp.where(b4, 1, f4.astype('bfloat16'))]
[jnp.sum(b4), jnp.sum(jnp.int8([1])), jnp.sum(u4), jnp.sum(jnp.uint16([1])), jnp.sum(jnp.float16([1])), jnp.sum(h4), jnp.prod(b4), jnp.cumsum(u4), jnp.cumsum(b4), jnp.sum(wf), jnp.sum(wi)]
[jnp.mean(i4), jnp.mean(b4), jnp.mean(h4), jnp.mean(jnp.float16([1])), jnp.var(i4), jnp.std(h4), jnp.median(i4), jnp.average(i4), jnp.mean(c4)]
[jnp.argmax(f4), jnp.argsort(f4), jnp.argmin(u4), jnp.count_nonzero(f4), jnp.searchsorted(f4, 2), jnp.nonzero(f4)[0], jnp.bincount(i4)]
[jnp.sqrt(jnp.int8([4])), jnp.sqrt(u4), jnp.exp(b4), jnp.sin(i4), jnp.log(jnp.int16([2])), jnp.tanh(h4), jnp.floor(i4), jnp.ceil(u4), jnp.round(i4), jnp.sign(u4), jnp.abs(c4), jnp.square(b4)]
[jnp.max(b4), jnp.max(u4), jnp.maximum(u4, i4), jnp.minimum(h4, f4), jnp.maximum(b4, 2), jnp.maximum(wf, i4)]
[jnp.uint8(5) - jnp.uint8(7), jnp.negative(jnp.uint8(5)), jnp.abs(u4), -b4.astype('int32')]
-b4 !!
b4 - b4 !!
[jnp.int32(3.7), jnp.float32(3), jnp.bool_(5), jnp.uint8(3.9), jnp.complex64(2), jnp.bfloat16(1.005), jnp.float16(70000.)]
[type(jnp.float32(1)).__name__ == type(f4).__name__, jnp.float32(1).weak_type, jnp.asarray(np.float32(1)).weak_type]
jnp.uint8(-1) !!
jnp.int8(200) !!
jnp.uint8(jnp.int32(300))
""")

corpus.expressions(
    """
[jnp.max(n4), jnp.min(n4), jnp.maximum(n4, 0), jnp.minimum(n4, 0), jnp.fmax(n4, 0), jnp.fmin(n4, 0), jnp.nanmax(n4), jnp.nanmin(n4)]
[jnp.sort(n4), jnp.argsort(n4), jnp.sort(-n4), jnp.sort(n4, descending=True), jnp.argsort(n4, descending=True), jnp.argmax(n4), jnp.argmin(n4), jnp.nanargmax(n4)]
[jnp.clip(n4, 0, 1), jnp.sum(n4), jnp.nansum(n4), jnp.mean(n4), jnp.nanmean(n4), jnp.cumsum(n4), jnp.prod(n4), jnp.median(n4)]
[n4 == n4, n4 != n4, n4 < 0, n4 >= 0, jnp.isnan(n4), jnp.isinf(n4), jnp.isfinite(n4), jnp.sign(n4), jnp.abs(n4), n4 * 0, n4 - n4]
[jnp.sort(jnp.float32([0., -0., 1, -1])), jnp.argsort(jnp.float32([0., -0., 0., -0.])), jnp.maximum(-0., 0.), jnp.minimum(0., -0.), jnp.max(jnp.float32([-0., 0.])), jnp.sign(k), 1 / k]
[jnp.round(jnp.float32([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997])), jnp.rint(sf + 0.5), jnp.floor(sf), jnp.ceil(sf), jnp.trunc(sf), jnp.round(jnp.float32([1.005, 2.675]), 2)]
jnp.round(1234.5, -2)
[jnp.nan_to_num(n4), jnp.nan_to_num(n4, nan=1., posinf=2., neginf=3.), jnp.nan_to_num(h4 / 0), jnp.unique(n4), jnp.isnan(jnp.unique(jnp.float32([np.nan, np.nan])))]
[jnp.sqrt(k), jnp.log(k), jnp.arcsin(k * 2), jnp.arctan2(k, -jnp.abs(k)), jnp.log1p(-jnp.abs(k)), jnp.expm1(k * 1e-8), jnp.reciprocal(k), lax.rsqrt(k)]
[jnp.exp(jnp.float32([88.8, 89, -103, -104, -150])), jnp.exp(jnp.float16([11, 12, -20])), jnp.tanh(jnp.float32([1e-10, 20, -20])), jnp.sinh(jnp.float32([89, -89, 1e-8]))]
[jnp.float32([1e38]) * 10, jnp.float16([60000]) + jnp.float16(10000), jnp.bfloat16([1]) + jnp.bfloat16(0.001), jnp.float32([16777216]) + 1]
[jnp.float32(1e-40), jnp.float32(1e-40) * 1, jnp.float32(1e-38) / 10, jnp.float32(1e-45).astype('float32')]
[jnp.logaddexp(f0 - jnp.inf, -jnp.inf), jnp.logaddexp(f0 + jnp.inf, jnp.inf), jax.nn.logsumexp(jnp.float32([-np.inf, -np.inf])), jax.nn.softmax(jnp.float32([np.inf, 0])), jax.nn.logsumexp(jnp.float32([1000., 1000.]))]
[jnp.array_equal(n4, n4), jnp.array_equal(n4, n4, equal_nan=True), jnp.allclose(n4, n4), jnp.isclose(n4, n4, equal_nan=True)]
[jnp.linspace(0, 1, 5), jnp.linspace(0, 10, 4, dtype=int), jnp.arange(0, 1, 0.3), jnp.arange(5, 0, -2), jnp.arange(0.5, 3), jnp.linspace(1, 1, 3), jnp.linspace(0, 1, 0), jnp.linspace(0, 1, 1)]
[jnp.mean(jnp.zeros(0)), jnp.sum(jnp.zeros(0)), jnp.std(jnp.ones(1), ddof=1), jnp.var(f4, ddof=4)]
[jnp.floor_divide(1, 0.), jnp.float_power(2, -1), jnp.power(0, 0), jnp.power(0., -1), jnp.hypot(f0 * np.inf, np.nan), jnp.ldexp(1., 200)]
[jnp.gcd(12, 18), jnp.gcd(0, 0), jnp.lcm(4, 6), jnp.lcm(0, 3), jnp.gcd(-12, 18), jnp.bitwise_count(jnp.uint8([255, 0, 7]))]
""",
    rtol=2e-6,
)

corpus.expressions(
    """
[grad(jax.nn.relu)(v) for v in (0., -0., 1., -1.)]
[grad(jnp.abs)(v) for v in (0., -0., 1., -1.)]
[grad(lambda x: jnp.maximum(x, 0))(v) for v in (0., 1., -1.)]
[grad(lambda x: jnp.minimum(x, 0))(v) for v in (0., 1., -1.)]
[grad(jnp.max)(jnp.float32(v)) for v in ([1, 1, 0], [2, 1, 2], [np.nan, 1, 1])]
[grad(jnp.min)(jnp.float32(v)) for v in ([1, 1, 0], [2, 1, 2])]
[grad(lambda x: jnp.clip(x, 0, 1))(v) for v in (0., 1., .5, 2., -1.)]
[grad(jnp.sqrt)(v) for v in (0., 4., -1.)]
[grad(jnp.log)(v) for v in (0., -1., 2.)]
[grad(lambda x: jnp.where(x > 0, jnp.log(x), 0.))(v) for v in (0., 1., -1.)]
[grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.))(v) for v in (0., 1.)]
[grad(jnp.linalg.norm)(jnp.zeros(2)), grad(jnp.linalg.norm)(jnp.float32([3, 4]))]
[grad(lambda x: x ** 0)(v) for v in (0., 2.)]
[grad(lambda x: x ** 1)(v) for v in (0., 2.)]
[grad(lambda x: x ** 2)(v) for v in (0., 2.)]
[grad(lambda x: x ** 3)(v) for v in (0., -2.)]
[grad(lambda x: x ** -1)(v) for v in (0., -2.)]
[grad(lambda x: 2. ** x)(v) for v in (0., 3.)]
[grad(lambda x: 0. ** x)(v) for v in (0., 1., 3.)]
[grad(jnp.sign)(0.5), grad(jnp.floor)(0.5), grad(jnp.round)(0.5), grad(jnp.ceil)(1.5)]
[grad(jnp.cbrt)(8.), grad(jnp.arctan2, (0, 1))(0., 1.), grad(jnp.hypot, (0, 1))(3., 4.), grad(jnp.hypot, (0, 1))(0., 0.)]
[grad(lambda x: x % 3.)(v) for v in (1., 4., -1.)]
[grad(lambda x: 5. % x)(v) for v in (2., 3.)]
[grad(lambda x: jnp.fmod(x, 3.))(v) for v in (1., 4., -1.)]
[grad(lambda x: x // 2.)(3.), grad(lambda x: 1 / x)(0.), grad(jnp.reciprocal)(2.)]
[grad(jnp.sinc)(0.), grad(jnp.sinc)(0.5), grad(lambda x: jnp.sinc(x))(1.)]
[grad(jax.nn.softplus)(v) for v in (0., 100., -100.)]
[grad(jax.nn.logsumexp)(jnp.float32(v)) for v in ([0, 0], [-np.inf, 0], [1000, 1000])]
[grad(lambda x: jnp.sort(x)[0])(jnp.float32([2, 1, 1])), grad(lambda x: jnp.median(x))(jnp.float32([3, 1, 2, 2]))]
[grad(jnp.std)(jnp.float32([1, 1, 1])), grad(jnp.var)(jnp.float32([1, 2, 3])), grad(jnp.prod)(jnp.float32([0, 2, 3])), grad(jnp.prod)(jnp.float32([0, 0, 3]))]
[grad(lambda x: jnp.cumprod(x).sum())(jnp.float32([0, 2, 3])), grad(lambda x: jnp.cumsum(x)[1])(f4)]
[grad(lambda x: jnp.amax(x * jnp.float32([1, 1])))(1.), grad(lambda x: lax.max(x, x))(1.), grad(lambda x: jnp.where(True, x, x))(1.)]
[grad(jax.nn.elu)(0.), grad(jax.nn.leaky_relu)(0.), grad(jax.nn.selu)(0.), grad(jax.nn.relu6)(0.), grad(jax.nn.relu6)(6.), grad(jax.nn.hard_tanh)(1.), grad(jax.nn.gelu)(0.), grad(jax.nn.silu)(0.)]
[grad(jnp.arccos)(1.), grad(jnp.arcsin)(1.), grad(jnp.arctanh)(1.), grad(jnp.arccosh)(1.), grad(jnp.tan)(0.)]
grad(jnp.abs)(1) !! grad requires real- or complex-valued inputs
""",
    rtol=2e-6,
)

corpus.expressions("""
(f4 + jnp.ones(3)) !! Incompatible shapes|incompatible shapes for broadcasting: \\(4,\\), \\(3,\\)
jnp.ones((2, 3)) * f4 !! ncompatible shapes
jnp.broadcast_to(f4, (3,)) !! Incompatible (types|shapes) for broadcasting
jnp.dot(f4, f4[:3]) !! dot_general requires contracting dimensions to have the same shape, got \\(4,\\) and \\(3,\\)
jnp.concatenate([f4, m23]) !! Cannot concatenate arrays with different numbers of dimensions: got \\(4,\\), \\(2, 3\\)
jnp.concatenate([m23, m33[:, :2]]) !! Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated
jnp.concatenate([]) !! Need at least one array to concatenate
jnp.stack([f4, f4[:2]]) !! All input arrays must have the same shape
float(f4) !! Only scalar arrays can be converted to Python scalars; got arr.ndim=1
bool(f4) !! truth value of an array with more than one element is ambiguous
format(f4, '.2f') !! unsupported format string passed to
jnp.reshape(f4, (3,)) !! cannot reshape array of shape \\(4,\\) \\(size 4\\) into shape \\(3,\\) \\(size 3\\)
jnp.add([1, 2], f4) !! add requires ndarray or scalar arguments, got <class 'list'> at position 0
f4 + 'a' !!
f4 + None !!
f4 + [1, 2, 3, 4] !!
f4 @ 3 !!
jnp.matmul(f4, 3) !!
jnp.sin('a') !! 'a'|str
jnp.sin(None) !! sin requires ndarray or scalar arguments
jnp.sum([1, 2]) !! sum requires ndarray or scalar arguments, got <class 'list'>
warned(lambda: jnp.ones(2, 'float64'))
warned(lambda: jnp.zeros(2, np.int64))
warned(lambda: f4.astype(np.float64))
warned(lambda: jnp.array(1, 'uint64'))
warned(lambda: jnp.array(np.ones(2)))
warned(lambda: jnp.arange(3, dtype='int64'))
warned(lambda: jnp.array([1j], 'complex128'))
warned(lambda: c4.astype('float32'))
""")

# Numbers of four bits seen as others, large Python integers, sums of booleans.
corpus.expressions("""
[lax.convert_element_type(2**100, np.float32), lax.convert_element_type(2**32, np.int32), lax.convert_element_type(-(2**40) - 3, np.int32), lax.convert_element_type(2**33 + 5, np.uint8)]
[jnp.einsum(s, np.eye(3, dtype=bool)) for s in ("aa->a", "aa", "ij->i")]
jnp.array([1, -3, 7, 2], jnp.int4).view(jnp.int8)
lax.bitcast_convert_type(jnp.array([[1, -3], [7, 2]], jnp.int4), jnp.int8)
lax.bitcast_convert_type(jnp.array([33, 127], jnp.int8), jnp.int4).astype(np.int32)
jnp.array([33, 127], jnp.int8).view(jnp.uint4).astype(np.int32)
lax.bitcast_convert_type(jnp.array([33.5], np.float32), jnp.int4).astype(np.int32)
lax.bitcast_convert_type(jnp.arange(8).astype(jnp.uint4), np.float32)
""")

# Products of blocks with scales.
corpus.expressions(
    """
lax.scaled_dot(c(8, 64), c(64, 4), lhs_scale=c(8, 2), rhs_scale=c(2, 4), preferred_element_type=np.float32)
lax.scaled_dot(c(2, 3, 8).astype(jnp.float8_e4m3fn), c(2, 8, 4).astype(jnp.float8_e4m3fn), rhs_scale=c(2, 4, 4), preferred_element_type=np.float32)
lax.scaled_dot(c(3, 8), c(8, 4)).dtype
lax.scaled_dot(c(8), c(8)) !! does not support 0-rank and 1-rank operands
lax.scaled_dot(c(3, 8), c(8, 4), lhs_scale=c(3, 3)) !! must be divisible by its scale's dim size 3
lax.scaled_dot(c(3, 8), c(8, 4), lhs_scale=c(3, 8)) !! must be at least 2
lax.scaled_dot(c(3, 8), c(8, 4), lhs_scale=c(2, 4)) !! does not match scale dim size
lax.scaled_dot(c(3, 8), c(6, 4)) !! does not match RHS contracting dim
jax.nn.scaled_matmul(c(2, 8), c(2, 8), c(2, 2), c(2, 2)) !! 3-dimensional arrays
""",
    rtol=1e-5,
)
