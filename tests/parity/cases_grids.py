"""tests/parity/cases_grids.py - grids, spaces, triangles and integrals; compositions under strict
promotion, which is about the user's operands and not about what they do inside."""

import corpus as parity


def setup(names):
    jax, jnp = names["jax"], names["jnp"]
    names.update(
        jit=jax.jit,
        m=jnp.arange(6).reshape(2, 3),
        y=jnp.arange(6.0).reshape(2, 3) ** 2,
        t=jnp.arange(24.0).reshape(2, 3, 4),
        ends=jnp.array([1.0, 2.0]),
        points=jnp.array([[0.5, 0.1], [1.5, 0.9], [2.5, 0.2]]),
        key=jax.random.PRNGKey(0),
    )


corpus = parity.Corpus(setup, rtol=2e-5, atol=1e-6)

corpus.expressions(r"""
jnp.arange(5, step=2)
jnp.arange(3, None, 2)
jnp.arange(1, 8, step=0.5, dtype=int)
jnp.arange(5.0, -3, -0.7)
jnp.arange(0.3, 7.7, 0.37, dtype=jnp.bfloat16)
jnp.arange(jnp.int8(4))
jnp.arange(2, dtype=bool) !! bool
jnp.partition(t[0, 0][::-1], 1)
jnp.partition(m, -2, axis=1)
jnp.partition(m, 9) !! out of bounds
jnp.argpartition(jnp.array([3, 1, 1, 2, 0, 3]), 3)
jnp.argpartition(-m, 0, axis=0)
[jnp.argpartition(jnp.array([2, 1, 1, 2, 1]), k) for k in range(5)]
jnp.argpartition(jnp.ones((2, 3)), 0, axis=-1)
jnp.partition(jnp.array([1.0, jnp.nan, 1.0, jnp.nan]), 0)
jnp.put(ends, jnp.array([0, 9]), 5.0, inplace=False)
jnp.put(ends, jnp.array([0, -1]), ends, mode="wrap", inplace=False)
jnp.put(ends, jnp.array([0]), 1.0, mode="x", inplace=False) !! mode should be one of
jnp.repeat(3, 2, axis=0)
jax.nn.standardize(m * jnp.array([0, 1, 1]), axis=0)
jax.nn.relu6(m * 2)
jnp.mgrid[()]
jnp.mgrid[:]
jnp.mgrid[:, :]
jnp.mgrid[0:1]
jnp.mgrid[:4,]
jnp.mgrid[1:6:8j, 2:4]
jnp.ogrid[:]
jnp.ogrid[:3, 1:3]
jit(lambda a, b: jnp.mgrid[a:b])(0, 2) !! slice start of jnp.mgrid
jit(lambda a, b: jnp.r_[a:b])(0, 2) !! slice start of jnp.r_
jnp.indices((3, 0))
jnp.indices((3, 0), sparse=True)
jnp.indices((2, 1), sparse=True)
jnp.indices(())
jnp.arange(1j) !! complex
jnp.arange(0, 3j) !! complex
jit(lambda n: jnp.arange(n))(3) !! It arose in the jnp.arange argument 'stop'
jit(lambda n: jnp.arange(1, n))(3) !! It arose in the jnp.arange argument 'stop'
jnp.eye(3, k=2**40)
jnp.eye(3, k=-(2**40))
jnp.eye(3, 4, k=-1)
jnp.tri(3, 4, k=1)
jit(lambda n: jnp.tri(n))(3) !! Shapes must be 1D sequences of concrete values
jnp.zeros(np.array([2, 3])).shape
jnp.zeros(jnp.array([2, 3])).shape
jnp.zeros(2, 3) !! Did you accidentally write `jax.numpy.zeros\(2, 3\)`
jnp.ones(2, 3) !! with a single tuple argument
jnp.linspace(0, ends, 0)
jnp.linspace(0, ends, 1, axis=-1)
jnp.linspace(0, ends, 3, axis=-1)
jnp.linspace(ends[:, None], ends, 3, axis=-2)
jnp.linspace(ends, 3, 1, retstep=True)
jnp.linspace(ends, 3, 4, retstep=True)
jnp.logspace(jnp.array([0, 1]), 2, 3, base=jnp.array([2.0, 3]))
jnp.geomspace(-1, -1000, 4)
jnp.geomspace(-1, 10, 3)
jnp.geomspace(1j, 1000j, 4)
jnp.geomspace(1 + 2j, -1000 - 1j, 3)
jnp.geomspace(ends, jnp.array([[100.0], [3]]), 3)
jnp.geomspace(ends, 100, 3, axis=-1)
jnp.ravel_multi_index((1, 2), (3, 4))
jnp.ravel_multi_index((jnp.array([1, 2]), jnp.array([[0], [3]])), (3, 4))
jnp.ravel_multi_index((1, 2), (3, 4), order="F")
jnp.ravel_multi_index((5, 2), (3, 4), mode="clip")
jnp.ravel_multi_index((5, 2), (3, 4), mode="wrap")
jnp.ravel_multi_index((5, 2), (3, 4), mode="ignore")
jnp.ravel_multi_index((1, 2), (3, 4), dtype="int8")
jnp.ravel_multi_index((5, 2), (3, 4)) !! invalid entry in coordinates array
jnp.ravel_multi_index((1, 2), (3, 4), order="X") !! invalid order='X'
jnp.ravel_multi_index((1, 2), (3, 4), mode="bad") !! invalid mode='bad'
jnp.ravel_multi_index((1.0, 2), (3, 4)) !! is not an integer type
jnp.ravel_multi_index((1, 2), (3, 4), dtype=float) !! is not an integer type
jnp.ravel_multi_index((1, 2), (300000, 40000), mode="clip") !! not large enough to hold
jit(lambda i: jnp.ravel_multi_index((i, i), (3, 4)))(1) !! jit-compiled with mode='raise'
jnp.apply_along_axis(lambda v: v[:2], 1, t)
jnp.apply_along_axis(lambda v: jnp.outer(v, v)[:2], 0, t)
jnp.pad(t[:, :2, :2], 1, lambda v, pair, axis, options: v.at[: pair[0]].set(10 * axis + 1))
jnp.trapezoid(y, dx=jnp.array([1.0, 2]), axis=1)
jnp.trapezoid(y, dx=jnp.array([[1.0, 2]]), axis=1)
jnp.trapezoid(y, x=jnp.array([0.0, 2]), axis=0)
jnp.trapezoid(y, x=y * y, axis=0)
jnp.trapezoid(jnp.arange(3))
jnp.trapezoid(y, dx=jnp.ones((3,)) * 2, axis=0)
jnp.ldexp(jnp.array([1.5, -2], "bfloat16"), jnp.array([3, -2]))
jnp.frexp(jnp.array([1.5, -20], "bfloat16"))
jnp.size(t, axis=(0, 0)) !! repeated axis
jnp.eye(-1) !! negative dimensions
jnp.interp(0.0, jnp.arange(2.0), jnp.arange(3.0)) !! one-dimensional arrays of equal size
jnp.interp(1j, 1j * jnp.arange(3.0), jnp.arange(3.0)) !! complex x values not supported
jnp.interp(0.0, jnp.arange(3.0), jnp.arange(3.0), period=ends) !! period must be a scalar
jnp.ldexp(jnp.array([1.0, 2, 0, jnp.inf, -jnp.inf, -0.0]), jnp.array([3, 300, 5, -5, 2**31 - 1, 4]))
jnp.ldexp(jnp.array([1e38, jnp.inf, 0.0]), jnp.array([-250, -(2**31), 2**31 - 1]))
jnp.ldexp(jnp.array([0.5], "float16"), 16)
jnp.ldexp(jnp.arange(3), jnp.arange(3))
jnp.polyadd(m, jnp.array([[1.5, 2, 3]]))
jnp.polyadd(m, jnp.array([1.5, 2, 3])) !!
jnp.vander(jnp.array([1, 2, 3]))
jnp.vander(ends, 3, increasing=True)
jnp.vander(y) !! x must be a one-dimensional array
jnp.ediff1d(jnp.array([1, 2, 4]), to_end=9, to_begin=jnp.array([7, 8]))
jnp.histogram(jnp.array([1, 2, 3, 3]), weights=jnp.array([1, 2, 3, 4]))
jnp.corrcoef(y, dtype="float16").dtype
jnp.argsort(jnp.array([2, 0, 1]), dtype="int8")
jnp.lexsort(jnp.array([1, 2, 0]))
jnp.lexsort(()) !! need sequence of keys
jnp.digitize(jnp.array([0.5, 2.5]), jnp.arange(3.0), method="sort")
jnp.trim_zeros(jnp.array(3))
jnp.take(jnp.zeros((0,)), jnp.array([0])) !! non-empty jnp.take
jnp.take(jnp.zeros((0,)), jnp.array([], int))
jnp.take_along_axis(jnp.arange(3), jnp.array([-1, 0]), 0, wrap_negative_indices=False)
jnp.take_along_axis(jnp.arange(3), jnp.array([-1, 0, 5]), 0, mode="clip")
jnp.take_along_axis(jnp.arange(3), jnp.array([-1, 0]), 0, mode="clip", wrap_negative_indices=True)
jnp.put_along_axis(m, jnp.array([0, 5]), -1, axis=None, inplace=False)
jnp.extract(jnp.array([True]), jnp.array([3]), size=0)
jnp.compress(jnp.array([True, False]), jnp.arange(2), size=3) !! not greater than the size
jnp.choose(jnp.array([0, 1]), [jnp.array([1, 2]), 5.5])
jit(lambda a: jnp.choose(a, [1, 2]))(0) !! jit-compiled with mode='raise'
jnp.expand_dims(ends, (1, 1)) !! repeated axis
jnp.trace(t, axis1=1, axis2=1) !! axis1 and axis2 can not be same
jnp.rot90(ends) !! rot90 requires its first argument to have ndim at least two
[jnp.iscomplexobj([1 + 1j]), jnp.iscomplexobj(None), jnp.iscomplexobj(ends)]
jnp.arange(3, dtype="int16").byteswap()
jnp.array([1 + 2j]).byteswap().byteswap()
jnp.array([True]).byteswap()
jit(lambda x: jnp.split(jnp.arange(6), x))(2) !! in jax.numpy.split argument 1
jit(jnp.bincount)(jnp.array([1, 2])) !! static `length`
lax.broadcast_shapes((2, 1), (3,))
lax.broadcast_shapes((2, 3), (4,)) !! Incompatible shapes for broadcasting
lax.broadcast_shapes((-1,)) !! Only non-negative indices are allowed
lax.broadcast_shapes((1.5,)) !! Shapes must be 1D sequences
jnp.broadcast_shapes(3, (2, 1))
""")

corpus.expressions(
    r"""
ends + m !! no available implicit dtype promotion path
y + ends[:1] !! rank_promotion
jnp.add(y, ends[:1]) !! rank_promotion
jnp.arctan2(y, jnp.array([1.0])) !! rank_promotion
jnp.concatenate([ends, m[0]]) !! no available implicit dtype promotion path
jnp.matmul(y, m.T) !! no available implicit dtype promotion path
jnp.where(ends > 1, ends, m[0, :2]) !! no available implicit dtype promotion path
jnp.arange(3).at[0].set(jnp.float32(1.5)) !! no available implicit dtype promotion path
jnp.where(ends > 1, y[:, :2], 0.0)
jnp.packbits(m > 2, axis=1)
jnp.unpackbits(jnp.array([[7, 200]], "uint8"), axis=1)
jnp.isin(m, jnp.array([1, 5]))
jnp.setxor1d(m, jnp.array([1, 9]))
jnp.unique(m, axis=0)
jnp.choose(jnp.array([[0, 1, 0], [1, 1, 0]]), [m, m[0]])
jnp.pad(y, 1, mode="linear_ramp")
jnp.pad(m, 1, mode="mean")
jnp.vander(ends)
jnp.polyfit(jnp.arange(3.0), 2 * jnp.arange(3.0) + 1, 1)
jnp.bincount(jnp.array([1, 2, 2]))
jnp.histogram(jnp.array([1, 2, 3]), bins=3)
jnp.histogram(jnp.array([1, 2, 3]), bins=jnp.array([0, 2, 4]))
jnp.trapezoid(m, x=m)
jnp.histogram2d(points[:, 0], points[:, 1], bins=2)[0]
jnp.trapezoid(m)
jnp.average(m, axis=0)
jnp.mean(m, where=m > 1)
jnp.cov(y, aweights=jnp.array([1.0, 2, 3]))
jnp.median(m, axis=0)
jnp.quantile(y, jnp.array([0.25, 0.75]), axis=0)
jnp.var(y, where=y > 1)
jnp.max(y, axis=0, where=y > 1, initial=0)
jnp.outer(ends, ends)
jnp.kron(ends, y)
jnp.cross(y, y + 1)
jnp.interp(ends, jnp.arange(3.0), jnp.arange(3.0))
jnp.gradient(y, axis=1)
jnp.linalg.slogdet(y @ y.T + jnp.eye(2))
jax.nn.softmax(y)
jax.nn.one_hot(jnp.array([0, 2]), 3)
jax.nn.standardize(y)
jax.random.normal(key, (2,), "complex64")
jax.random.multivariate_normal(key, ends, jnp.eye(2), (3,)).shape
jax.random.permutation(key, m, axis=1)
jax.random.choice(key, 5, (3,), replace=False)
jax.random.dirichlet(key, ends, (2,)).shape
""",
    config={"jax_numpy_rank_promotion": "raise", "jax_numpy_dtype_promotion": "strict"},
)
