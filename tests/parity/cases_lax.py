"""tests/parity/cases_lax.py - the operations of `lax`: values and types for several dtypes, edge shapes, errors."""

import numpy as np

import corpus as parity

corpus = parity.Corpus()

FLOAT_UNARY = {
    **dict.fromkeys(
        "exp exp2 expm1 sin cos tan tanh sinh erf erfc logistic cbrt asinh atan".split(),
        (-1.5, -0.3, 0.0, 0.7, 2.5),
    ),
    **dict.fromkeys("log log1p sqrt rsqrt lgamma digamma cosh".split(), (0.1, 0.5, 1.0, 2.5, 30.0)),
    **dict.fromkeys("asin acos atanh erf_inv".split(), (-0.9, -0.25, 0.0, 0.3, 0.75)),
    **dict.fromkeys("acosh".split(), (1.0, 1.5, 2.0, 10.0, 30.0)),
    **dict.fromkeys(
        "ceil floor round sign abs neg is_finite square reciprocal".split(),
        (-2.5, -0.5, 0.5, 1.5, 7.25),
    ),
}
EDGES = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, -1e30, 88.0, -104.0)


def unary(jax, jnp, lax, name, values):
    """A unary operation in each float dtype, at the edges, of an integer, a weak scalar, an empty array, a complex array."""
    f = getattr(lax, name)
    made = {
        d: parity.attempt(lambda d=d: f(jnp.asarray(values, dtype=d)))
        for d in (*parity.FLOATS, "int32", "bool")
    }
    made["edges"] = f(jnp.asarray(EDGES, dtype=jnp.float32))
    made["weak"] = parity.attempt(lambda: f(float(values[1])))
    made["empty"] = f(jnp.zeros((2, 0), jnp.float32))
    return made


def unary_gradient(jax, jnp, lax, name, values):
    """The derivative, the second derivative and a jvp."""
    f = getattr(lax, name)
    x = jnp.asarray(values[1:], dtype=jnp.float32)
    first = jax.grad(lambda v: f(v).sum())
    return (
        first(x),
        jax.grad(lambda v: first(v).sum())(x),
        jax.jvp(f, (x,), (jnp.full_like(x, 2.0),)),
    )


corpus.table({f"lax.{n}": (n, v) for n, v in FLOAT_UNARY.items()}, unary, rtol=1e-5)
differentiable = {n: v for n, v in FLOAT_UNARY.items() if n not in ("is_finite",)}
corpus.table(
    {f"gradients of lax.{n}": (n, v) for n, v in differentiable.items()},
    unary_gradient,
    rtol=3e-5,
    atol=1e-6,
)


def complex_unary(jax, jnp, lax, name):
    return getattr(lax, name)(jnp.asarray(np.array([0.5 + 1j, -1 - 0.25j, 2j, 1.5], np.complex64)))


COMPLEX = "exp log sin cos tanh sqrt rsqrt square neg abs real imag conj expm1 log1p sign reciprocal".split()
corpus.table({f"lax.{n} of complex": (n,) for n in COMPLEX}, complex_unary, rtol=1e-5, atol=1e-6)


def binary(jax, jnp, lax, name):
    """A binary operation of equal dtypes, of scalars with arrays, and its errors."""
    f = getattr(lax, name)
    made = {}
    for d in parity.DTYPES:
        x = parity.sample(jnp, d)
        made[d] = parity.attempt(lambda x=x: f(x, x[::-1]))
    x, i = parity.sample(jnp, "float32"), parity.sample(jnp, "int32")
    edges = [jnp.asarray(values, dtype=jnp.float32) for values in (EDGES, EDGES[::-1])]
    made["edges"] = parity.attempt(lambda: f(*edges))
    made["scalar right"] = [
        parity.attempt(lambda: f(x, 2.0)),
        parity.attempt(lambda: f(i, 2)),
        parity.attempt(lambda: f(x, 2)),
    ]
    made["scalar left"] = parity.attempt(lambda: f(2.0, x))
    made["scalars"] = [parity.attempt(lambda: f(2.0, 3.0)), parity.attempt(lambda: f(2, 3))]
    made["mixed"] = parity.attempt(lambda: f(x, i))
    made["empty"] = parity.attempt(lambda: f(x[:0], x[:0]))
    return made


BINARY = """add sub mul div rem max min pow atan2 nextafter eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor
    shift_left shift_right_logical shift_right_arithmetic""".split()
corpus.table({f"lax.{n}": (n,) for n in BINARY}, binary, rtol=1e-5)


def binary_gradient(jax, jnp, lax, name):
    f = getattr(lax, name)
    x = jnp.asarray(np.float32([0.5, 2.0, 1.5, 3.0]))
    y = jnp.asarray(np.float32([1.5, 2.0, -0.5, 2.0]))
    return jax.grad(lambda a, b: (f(a, b) * (1 + a)).sum(), (0, 1))(x, y), jax.jvp(
        f, (x, y), (y, x)
    )


names = "add sub mul div rem max min pow atan2".split()
corpus.table({f"gradients of lax.{n}": (n,) for n in names}, binary_gradient, rtol=1e-5, atol=1e-6)

corpus.expressions(
    """
lax.add(f4, i4) !! lax.add requires arguments to have the same dtypes, got float32, int32
lax.add(f4, 1) !! lax.add requires arguments to have the same dtypes
lax.add(f4, m23) !! arrays must have the same number of dimensions|must have equal ranks|same number of dimensions
lax.add(f4, f4[:3]) !! add got incompatible shapes for broadcasting: \\(4,\\), \\(3,\\)
lax.max(f4, 1.)
lax.pow(f4, i4)
lax.integer_pow(f4, 3)
lax.integer_pow(x4, -2)
lax.exp(i4) !! exp.*int32|does not accept dtype int32
lax.bitwise_not(i4)
lax.bitwise_not(b4)
each(lax.population_count, INTEGERS)
each(lax.clz, INTEGERS)
lax.clamp(0., x4, 1.)
lax.clamp(jnp.float32(0), x4, jnp.ones(4, jnp.float32))
lax.clamp(1, i4, 2)
lax.clamp(jnp.zeros(3, jnp.float32), x4, 1.) !! clamp
lax.select(b4, f4, x4)
lax.select(True, f4, x4)
lax.select(b4, f4, i4) !! select cases must have the same dtypes|select
lax.select_n(i4 % 3, f4, x4, -f4)
lax.stop_gradient(f4)
jax.grad(lambda v: (lax.stop_gradient(v) * v).sum())(f4)
lax.convert_element_type(x4, jnp.int32)
lax.convert_element_type(1.5, jnp.bfloat16)
lax.convert_element_type(i4, float)
lax.convert_element_type(c4, jnp.float32)
jax.grad(lambda v: lax.convert_element_type(v, jnp.bfloat16).astype(jnp.float32).sum())(x4)
lax.bitcast_convert_type(x4, jnp.int32)
lax.bitcast_convert_type(x4, jnp.uint8).shape
lax.bitcast_convert_type(i4, jnp.float32)
lax.bitcast_convert_type(i4, jnp.uint16)
lax.reduce_precision(x4, 5, 2)
lax.broadcast(f4, (2,))
lax.broadcast_in_dim(f4, (2, 4), (1,))
lax.broadcast_in_dim(f4, (4, 2), (0,))
lax.broadcast_in_dim(f4, (2, 3), (1,)) !! broadcast_in_dim
lax.broadcasted_iota(jnp.int32, (2, 3), 1)
lax.iota(jnp.float32, 4)
lax.iota(jnp.uint8, 3)
lax.reshape(f4, (2, 2))
lax.reshape(m23, (3, 2), (1, 0))
lax.transpose(m23, (1, 0))
lax.transpose(m23, (0,)) !! transpose permutation
lax.squeeze(f4.reshape(1, 4), (0,))
lax.squeeze(m23, (0,)) !! cannot select an axis to squeeze out
lax.expand_dims(f4, (0, 2))
lax.collapse(t234, 0, 2).shape
lax.rev(m23, (1,))
lax.concatenate([m23, m23], 1)
lax.concatenate([m23, f4], 0) !! Cannot concatenate arrays|concatenate
lax.concatenate([m23, m23[:, :2]], 0) !! Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated
lax.concatenate([f4, i4], 0) !! lax.concatenate requires arguments to have the same dtypes
lax.pad(f4, jnp.float32(9), [(1, 2, 0)])
lax.pad(f4, jnp.float32(9), [(0, 0, 1)])
lax.pad(f4, jnp.float32(9), [(-1, -1, 0)])
lax.pad(m23, 0., [(1, 0, 0), (-1, 2, 1)])
jax.grad(lambda v: (lax.pad(v, jnp.float32(1), [(1, -1, 1)]) ** 2).sum())(x4)
lax.slice(f4, (1,), (3,))
lax.slice(t234, (0, 1, 0), (2, 3, 4), (1, 1, 2))
lax.slice(f4, (1,), (6,)) !! slice.* must be less than or equal to .*operand shape
lax.slice_in_dim(m23, 1, 3, axis=1)
lax.slice_in_dim(f4, 0, None, 2)
lax.index_in_dim(m23, 1, keepdims=False)
lax.dynamic_slice(f4, (1,), (2,))
lax.dynamic_slice(f4, (9,), (2,))
lax.dynamic_slice(f4, (-1,), (2,))
lax.dynamic_slice(m23, (0, 1), (2, 2))
lax.dynamic_slice(f4, (1,), (5,)) !! slice slice_sizes must be less than or equal to operand shape
lax.dynamic_slice_in_dim(m23, i4[1], 2, 1)
lax.dynamic_index_in_dim(m23, 1, 1, keepdims=False)
lax.dynamic_index_in_dim(m23, -1, 1)
lax.dynamic_update_slice(f4, f4[:2] + 10, (3,))
lax.dynamic_update_slice(m23, jnp.full((1, 2), 9, jnp.float32), (1, 0))
lax.dynamic_update_slice(f4, i4[:2], (0,)) !! dynamic_update_slice.*same dtype|lax.dynamic_update_slice requires arguments to have the same dtypes
lax.dynamic_update_slice_in_dim(f4, f4[:2], 1, 0)
lax.dynamic_update_index_in_dim(m23, f4[:3], 0, 0)
jax.grad(lambda v: (lax.dynamic_slice(v, (1,), (2,)) ** 2).sum())(x4)
jax.grad(lambda v, u: (lax.dynamic_update_slice(v, u, (1,)) ** 2).sum(), (0, 1))(x4, x4[:2])
jax.vmap(lambda i: lax.dynamic_slice(x4, (i,), (2,)))(i4)
lax.dot(m23, t234[0])
lax.dot(f4, f4)
lax.dot(m23, m23) !! dot.*\\(2, 3\\).*\\(2, 3\\)
lax.dot_general(t234, t234, (((2,), (2,)), ((0,), (0,))))
lax.dot_general(m23, m23, (((1,), (1,)), ((), ())))
lax.dot_general(i23, i23, (((0,), (0,)), ((), ())))
lax.dot_general(h4, h4, (((0,), (0,)), ((), ())))
lax.dot_general(h4, h4, (((0,), (0,)), ((), ())), preferred_element_type=jnp.float32)
lax.dot_general(u4, u4, (((0,), (0,)), ((), ())), preferred_element_type=jnp.int32)
lax.dot_general(t234, t234, (((), ()), ((0, 1, 2), (0, 1, 2))))
lax.dot_general(e03, e03, (((0,), (0,)), ((), ())))
lax.batch_matmul(t234, t234.transpose(0, 2, 1))
lax.dot_general(f4, f4[:3], (((0,), (0,)), ((), ()))) !! dot_general requires contracting dimensions to have the same shape, got \\(4,\\) and \\(3,\\)
jax.grad(lambda a, b: (lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))) ** 2).sum(), (0, 1))(t234, t234.transpose(0, 2, 1))
lax.reduce(m23, jnp.float32(0), lax.add, (0,))
lax.reduce(m23, jnp.float32(-jnp.inf), lax.max, (1,))
lax.reduce(i23, jnp.int32(1), lax.mul, (0, 1))
lax.reduce(m23, jnp.float32(0), lambda a, b: a + 2 * b * 0 + b, (1,))
lax.reduce((m23, i23), (jnp.float32(0), jnp.int32(0)), lambda a, b: (a[0] + b[0], a[1] + b[1]), (0,))
lax.reduce_max(m23, (0,))
lax.reduce_sum(m23, (1,))
lax.reduce_and(b4, (0,))
lax.reduce_or(b4, (0,))
lax.reduce_xor(i4, (0,))
lax.argmax(m23, 1, jnp.int32)
lax.argmin(m23, 0, jnp.uint8)
lax.cumsum(m23, 1)
lax.cumsum(m23, 0, reverse=True)
lax.cumprod(i4 + 1)
lax.cummax(x4)
lax.cummin(x4, reverse=True)
lax.cumlogsumexp(x4)
lax.sort(x4)
lax.sort(m23, 0)
lax.sort(n4)
lax.sort((i23[0] % 2, m23[0]), num_keys=1)
lax.sort([x4, i4], num_keys=1)
lax.sort((b4.astype(int), x4), num_keys=2)
lax.top_k(x4, 2)
lax.top_k(m23, 1)
lax.top_k(x4, 5) !! k argument to top_k must be no larger than (size along axis|minor dimension)
jax.grad(lambda v: (lax.sort(v) * f4).sum())(x4)
jax.grad(lambda v: (lax.cumsum(v) ** 2).sum())(x4)
jax.grad(lambda v: lax.cumprod(v)[3])(x4)
jax.grad(lambda v: (lax.cummax(v) * f4).sum())(x4)
lax.reduce_window(f4, jnp.float32(0), lax.add, (2,), (1,), 'VALID')
lax.reduce_window(m23, -jnp.inf, lax.max, (2, 2), (1, 1), 'SAME')
lax.reduce_window(m23, jnp.inf, lax.min, (1, 2), (1, 2), ((0, 0), (1, 0)))
lax.conv(t234[None], jnp.ones((1, 2, 2, 2), jnp.float32), (1, 1), 'VALID')
lax.conv_general_dilated(t234, jnp.ones((5, 3, 2), jnp.float32), (1,), 'SAME')
lax.conv_general_dilated(t234, jnp.ones((5, 3, 2), jnp.float32), (2,), [(1, 0)], rhs_dilation=(2,))
lax.conv_general_dilated(t234, jnp.ones((3, 3, 1), jnp.float32), (1,), [(0, 1)], lhs_dilation=(2,))
lax.optimization_barrier((f4, i4))
lax.associative_scan(jnp.add, x4)
lax.associative_scan(lambda a, b: a * b, m23, axis=1, reverse=True)
lax.map(lambda v: v * 2, m23)
lax.map(lambda v: v.sum(), t234, batch_size=1)
lax.full((2,), 3)
lax.full((2, 1), 1.5, jnp.bfloat16)
lax.full_like(f4, 3)
lax.full_like(f4, 3, shape=(2,))
lax.dtype(1.5)
lax.complex(f4, x4)
lax.betainc(jnp.float32(2), jnp.float32(3), jnp.float32(0.4))
lax.igamma(jnp.float32(2), jnp.float32(1.5))
lax.square(i4)
lax.Precision.HIGHEST.name
lax.GatherScatterMode.CLIP.name
""",
    rtol=1e-5,
    atol=1e-6,
)

corpus.expressions(
    "lax.reshape(f4, (3,))",
    raises=("TypeError", "reshape"),
    because="JAX leaks a verifier error of its compiler here; jnp.reshape raises TypeError.",
)
