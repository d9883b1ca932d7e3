"""tests/parity/cases_numpy.py - `jax.numpy` elementwise functions, reductions and makers over dtypes and edge shapes."""

import numpy as np

import corpus as parity

corpus = parity.Corpus(rtol=1e-5, atol=1e-6)

UNARY = """abs absolute sign exp exp2 expm1 log log1p log2 log10 sqrt square cbrt sin cos tan sinh cosh tanh arcsin arccos
    arctan arcsinh arccosh arctanh floor ceil round rint trunc negative positive reciprocal isnan isinf isfinite
    isposinf isneginf nan_to_num logical_not bitwise_not invert real imag conj conjugate angle deg2rad rad2deg degrees
    radians signbit sinc fabs i0 iscomplex isreal atleast_1d atleast_2d atleast_3d ones_like zeros_like ravel
    spacing frexp modf""".split()


def unary(jax, jnp, lax, name):
    """Every dtype, the edges, weak scalars, a Python scalar, an empty and a 0-d array, a NumPy array, a list."""
    f = getattr(jnp, name)
    made = {d: parity.attempt(lambda d=d: f(parity.sample(jnp, d))) for d in parity.DTYPES}
    edges = jnp.asarray(
        [np.nan, np.inf, -np.inf, -0.0, 1.0, -1.0, 2.5, -2.5, 3.5], dtype=jnp.float32
    )
    made["edges"] = parity.attempt(lambda: f(edges))
    scalars = {
        "weak int": jnp.asarray(1),
        "py int": 1,
        "py float": 0.5,
        "py bool": True,
        "0-d": jnp.ones((), jnp.float32),
    }
    scalars |= {"empty": jnp.zeros((0, 2), jnp.float32), "numpy": np.ones(2), "list": [0.5, 1.0]}
    return made | {n: parity.attempt(lambda v=v: f(v)) for n, v in scalars.items()}


corpus.table({f"jnp.{n}": (n,) for n in UNARY}, unary)

REDUCTIONS = """sum prod mean max min var std any all argmax argmin median ptp cumsum cumprod nansum nanmean nanmax nanmin
    nanprod nanvar nanstd nanargmax count_nonzero sort argsort average amax amin nancumsum nanmedian""".split()


def reduction(jax, jnp, lax, name):
    """Every dtype, then the axes of a matrix, keepdims, empty arrays, NaN, a 0-d array, negative axes."""
    f = getattr(jnp, name)
    made = {d: parity.attempt(lambda d=d: f(parity.sample(jnp, d))) for d in parity.DTYPES}
    m = jnp.asarray(np.float32([[1, -2, 3], [0.5, 5, -6]]))
    made["axes"] = [parity.attempt(lambda a=a: f(m, axis=a)) for a in (0, 1, -1, None, (0, 1), ())]
    made["keepdims"] = [parity.attempt(lambda a=a: f(m, axis=a, keepdims=True)) for a in (0, None)]
    made["bad axis"] = parity.attempt(lambda: f(m, axis=2))
    made["empty"] = [
        parity.attempt(lambda a=a: f(jnp.zeros((0, 2), jnp.float32), axis=a)) for a in (0, 1, None)
    ]
    made["nan"] = parity.attempt(lambda: f(jnp.asarray([1.0, np.nan, 0.5], dtype=jnp.float32)))
    scalars = {
        "0-d": jnp.asarray(np.float32(2)),
        "weak": jnp.asarray(2),
        "python": 2.5,
        "list": [1, 2],
    }
    return made | {n: parity.attempt(lambda v=v: f(v)) for n, v in scalars.items()}


corpus.table({f"jnp.{n} reduces": (n,) for n in REDUCTIONS}, reduction)

BINARY = """hypot logaddexp logaddexp2 fmax fmin mod divmod not_equal equal greater greater_equal less_equal logical_or
    logical_xor bitwise_or right_shift dot matmul vdot inner outer kron gcd lcm nextafter isclose allclose array_equal
    cross convolve correlate polyval tensordot ldexp""".split()


def binary(jax, jnp, lax, name):
    f = getattr(jnp, name)
    pick = {
        d: parity.sample(jnp, d)
        for d in ("bool", "int32", "uint8", "bfloat16", "float32", "complex64")
    }
    made = {d: parity.attempt(lambda x=x: f(x, x[::-1])) for d, x in pick.items()}
    x, i = pick["float32"], pick["int32"]
    rest = {
        "mixed": (x, i),
        "weak": (x, 2),
        "scalars": (3, 2),
        "floats": (3.5, 2.0),
        "weak int": (i, 2),
        "bfloat16": (pick["bfloat16"], x),
    }
    rest |= {
        "broadcast": (x[:, None], x[None, :2]),
        "empty": (x[:0], x[:0]),
        "0-d": (x[0], x),
        "bad": (x, x[:3]),
    }
    return made | {n + " operands": parity.attempt(lambda a=a: f(*a)) for n, a in rest.items()}


corpus.table({f"jnp.{n}": (n,) for n in BINARY}, binary)

corpus.expressions("""
jnp.zeros((2, 3))
jnp.zeros(3, dtype=int)
jnp.zeros((), jnp.bfloat16)
jnp.ones((2, 0))
jnp.ones(2, bool)
jnp.full((2, 2), 7, jnp.uint8)
jnp.full((2,), jnp.arange(2))
jnp.full(3, jnp.inf)
jnp.empty((2, 2)).shape
jnp.zeros((-1,)) !! (only non-negative|Shapes must|negative)
jnp.zeros('a') !! Shapes must be 1D sequences of concrete values of integer type|integer
jnp.zeros(2.5) !! Shapes must be 1D sequences|integer
jnp.eye(3)
jnp.eye(2, 4, k=1, dtype=int)
jnp.eye(3, k=-1, dtype=bool)
jnp.identity(2)
jnp.arange(5)
jnp.arange(5.)
jnp.arange(1, 7, 2)
jnp.arange(5, 0, -2)
jnp.arange(0, 1, 0.25)
jnp.arange(0)
jnp.arange(3, dtype=jnp.uint8)
jnp.arange(3, dtype=jnp.bfloat16)
jnp.arange(True) !! bool
jnp.arange(2.5)
jnp.arange(-1, 1, 0.3)
jnp.linspace(0, 1, 5)
jnp.linspace(0, 10, 4, endpoint=False)
jnp.linspace(0, 5, 6, dtype=int)
jnp.linspace(1, 2, 1)
jnp.linspace(0, 1, 3, retstep=True)
jnp.linspace(jnp.zeros(2), jnp.ones(2), 3)
jnp.linspace(jnp.zeros(2), jnp.ones(2), 3, axis=1)
jnp.linspace(-1, 1, 10)
jnp.logspace(0, 2, 3)
jnp.geomspace(1, 1000, 4)
jnp.tri(3, 4, 1)
jnp.tril(m33)
jnp.triu(m23, k=1)
jnp.diag(f4[:3])
jnp.diag(m33)
jnp.diag(f4[:2], k=1)
jnp.diag(m33, k=-1)
jnp.diagonal(t234, axis1=1, axis2=2)
jnp.diagflat(f4[:2])
jnp.trace(m33)
jnp.trace(i23)
jnp.vander(f4[:3])
jnp.meshgrid(f4[:2], i4[:3])
jnp.meshgrid(f4[:2], i4[:3], indexing='ij')
jnp.meshgrid(f4[:2], i4[:3], sparse=True)
jnp.indices((2, 3))
jnp.tril_indices(3)
jnp.triu_indices(3, 1)
jnp.diag_indices(3)
jnp.where(b4, f4, x4)
jnp.where(b4, f4, 0)
jnp.where(b4, i4, 1.5)
jnp.where(i4, 1, 2)
jnp.where(b4[:, None], f4, -1.0).shape
jnp.where(f4 > 1)
jnp.where(f4 > 1, size=3)
jnp.where(f4 > 1, size=3, fill_value=-1)
jnp.where(b4, f4) !! where
jnp.select([f4 < 1, f4 > 2], [x4, -f4], 9)
jnp.select([b4, ~b4], [i4, f4])
jnp.piecewise(x4, [x4 < 0, x4 >= 1], [lambda v: -v, 2, 0])
jnp.choose(i4 % 3, [f4, x4, -f4])
jnp.clip(x4, 0, 1)
jnp.clip(i4, 1, None)
jnp.clip(i4, None, 2)
jnp.clip(i4, 0.5, 2.5)
jnp.clip(u4, -1, 2)
jnp.clip(x4, min=0.)
jnp.clip(x4, max=f4)
jnp.clip(x4)
jnp.round(x4, 1)
jnp.round(jnp.float32([0.5, 1.5, 2.5, -0.5, 1.25, 1.35]), 1)
jnp.round(jnp.float32([0.5, 1.5, 2.5, -0.5, 1250.0]), 0)
jnp.round(i4 * 15, -1) !! not implemented for decimals < 0
jnp.rint(jnp.float32([0.5, 1.5, 2.5, -0.5]))
jnp.nan_to_num(n4)
jnp.nan_to_num(n4, nan=1., posinf=2., neginf=3.)
jnp.sum(m23, axis=0, dtype=int)
jnp.sum(m23, initial=10)
jnp.sum(m23, where=m23 > 0)
jnp.sum(b4, dtype=jnp.uint8)
jnp.sum(h4, dtype=jnp.float32)
jnp.sum([1, 2]) !! requires ndarray or scalar arguments, got <class 'list'>
jnp.mean(m23, axis=1, where=m23 > 0)
jnp.mean(h4 * 100)
jnp.mean(jnp.ones(3, jnp.float16) * 60000)
jnp.mean(i23, dtype=jnp.float32)
jnp.max(m23, initial=2, axis=0)
jnp.max(m23, where=m23 < 0, initial=-9)
jnp.max(e0) !! zero-size array to reduction operation max which has no identity
jnp.max(e0, initial=1)
jnp.argmax(e0) !! attempt to get argmax of an empty sequence
jnp.var(m23, axis=0, ddof=1)
jnp.std(m23, axis=1, keepdims=True)
jnp.std(f4, ddof=1)
jnp.std(i4)
jnp.var(c4)
jnp.average(f4, weights=f4)
jnp.average(m23, axis=1, weights=f4[:3])
jnp.average(f4, weights=f4, returned=True)
jnp.median(m23, axis=1)
jnp.median(f4[:3])
jnp.percentile(x4, 25)
jnp.percentile(m23, jnp.array([0., 50., 100.]), axis=1)
jnp.quantile(x4, 0.3)
jnp.quantile(x4, 0.3, method='nearest')
jnp.quantile(x4, 0.3, method='lower')
jnp.nanquantile(n4[:1], 0.5)
jnp.cumsum(m23)
jnp.cumsum(m23, axis=1)
jnp.cumsum(b4)
jnp.cumsum(u4, dtype=jnp.float32)
jnp.cumprod(i4 + 1)
jnp.diff(x4)
jnp.diff(m23, axis=0)
jnp.diff(i4 ** 2, n=2)
jnp.ediff1d(f4)
jnp.gradient(f4 ** 2)
jnp.trapezoid(f4)
jnp.interp(jnp.float32([0.5, 1.5, 9.]), f4, x4)
jnp.cov(m23)
jnp.corrcoef(m23)
jnp.convolve(f4, f4[:2])
jnp.convolve(f4, f4[:3], mode='same')
jnp.convolve(i4, i4[:2], mode='valid')
jnp.sort(x4, descending=True)
jnp.sort(m23, axis=0)
jnp.sort(n4)
jnp.sort(m23, axis=None)
jnp.argsort(n4)
jnp.argsort(x4, descending=True)
jnp.argsort(i23, axis=0)
jnp.argsort(jnp.array([1, 0, 1, 0]))
jnp.argsort(b4)
jnp.lexsort((f4, i4 % 2))
jnp.partition(x4, 2).shape
jnp.searchsorted(f4, jnp.float32([0.5, 1., 9., -1.]))
jnp.searchsorted(f4, 1., side='right')
jnp.digitize(x4, f4)
jnp.bincount(jnp.array([0, 1, 1, 3]))
jnp.bincount(jnp.array([0, 1, 1, 3]), length=3)
jnp.bincount(i4, weights=x4)
jnp.histogram(x4, bins=3)
jnp.histogram(x4, bins=f4)
jnp.unique(jnp.array([3, 1, 1, 2]))
jnp.unique(jnp.array([3, 1, 1, 2]), size=5)
jnp.unique(jnp.array([3, 1, 1]), return_counts=True, return_inverse=True)
jnp.nonzero(b4)
jnp.nonzero(m23 > 0)
jnp.nonzero(b4, size=2)
jnp.nonzero(b4, size=5, fill_value=9)
jnp.flatnonzero(b4)
jnp.argwhere(m23 > 0)
jnp.isin(i4, jnp.array([1, 3]))
jnp.union1d(i4, i4 + 2)
jnp.intersect1d(i4, i4 + 2)
jnp.setdiff1d(i4, jnp.array([1]))
jnp.allclose(f4, f4 + 1e-9)
jnp.isclose(f4, f4 + 1e-3, atol=1e-2)
jnp.allclose(n4, n4, equal_nan=True)
jnp.array_equal(f4, f4[:3])
jnp.array_equiv(f4, f4[None])
jnp.array_equal(n4, n4, equal_nan=True)
jnp.finfo(jnp.float32).dtype
[jnp.pi, jnp.e, jnp.inf, jnp.newaxis, jnp.euler_gamma]
[jnp.shape(m23), jnp.ndim(m23), jnp.size(m23), jnp.size(m23, 0), jnp.shape(1.0), jnp.ndim([[1]])]
[jnp.iscomplexobj(c4), jnp.isrealobj(f4), jnp.isscalar(1.0), jnp.isscalar(f4), jnp.isscalar(f0)]
jnp.float32(2.5).dtype
""")
