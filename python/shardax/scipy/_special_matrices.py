"""shardax/scipy/_special_matrices.py - matrices with a name: Toeplitz, Hilbert, Pascal ..."""

import math
import operator

from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import in_one_program
from shardax.scipy._promote import inexact
from shardax.scipy.special import comb

__all__ = [
    "block_diag",
    "circulant",
    "companion",
    "convolution_matrix",
    "dft",
    "fiedler",
    "fiedler_companion",
    "hadamard",
    "hankel",
    "helmert",
    "hilbert",
    "invhilbert",
    "invpascal",
    "leslie",
    "pascal",
    "toeplitz",
]


@in_one_program()
def block_diag(*arrs):
    """A matrix with these blocks along its diagonal; vectors are rows.

    >>> shardax.scipy.linalg.block_diag(jnp.array([[1]]), jnp.array([2, 3]))
    Array([[1, 0, 0],
           [0, 2, 3]], dtype=int32)
    """
    arrs = arrs or (jnp.zeros((1, 0)),)
    wrong = [i for i, b in enumerate(arrs) if jnp.ndim(b) > 2]
    if wrong:
        raise ValueError(
            "Arguments to jax.scipy.linalg.block_diag must have at most 2 dimensions, got "
            f"{arrs[wrong[0]]} at argument {wrong[0]}."
        )
    return _block_diag(*arrs)


@in_one_program(at_once=True)
def _block_diag(*arrs):
    blocks = [jnp.atleast_2d(a) for a in arrs]
    dtype = jnp.result_type(*blocks)
    width = sum(b.shape[1] for b in blocks)
    rows, left = [], 0
    for b in blocks:
        right = width - left - b.shape[1]
        rows.append(jnp.pad(b.astype(dtype), ((0, 0), (left, right))))
        left += b.shape[1]
    return jnp.concatenate(rows)


def _stacked(*vectors):
    """Vectors (..., n) whose stacks repeat to one shape."""
    stack = jnp.broadcast_shapes(*(v.shape[:-1] for v in vectors))
    return [jnp.broadcast_to(v, stack + v.shape[-1:]) for v in vectors]


def _windows(line, n, m, descending):
    """(..., n, m): row i is m elements of `line` from i on, or from n - 1 - i on."""
    row, column = jnp.arange(n)[:, None], jnp.arange(m)[None, :]
    return jnp.take(line, (n - 1 - row if descending else row) + column, axis=-1)


def toeplitz(c, r=None):
    """The matrix (..., n, m) with first column `c`, first row `r` (without its first element) and
    constant diagonals; without `r`, the row is conj(c).

    >>> shardax.scipy.linalg.toeplitz(jnp.array([1, 2]), jnp.array([0, 3]))
    Array([[1, 3],
           [2, 1]], dtype=int32)
    """
    c = jnp.atleast_1d(jnp.asarray(c))
    r = jnp.conj(c) if r is None else jnp.atleast_1d(jnp.asarray(r))
    c, r = _stacked(c, r)
    n, m = c.shape[-1], r.shape[-1]
    if not n or not m:
        return jnp.zeros((*c.shape[:-1], n, m), jnp.promote_types(c.dtype, r.dtype))
    line = jnp.concatenate([jnp.flip(c, -1), r[..., 1:]], axis=-1)
    return _windows(line, n, m, True)


def hankel(c, r=None):
    """The matrix (..., n, m) with first column `c`, last row `r` (without its first element) and
    constant antidiagonals; without `r`, the row is zeros.

    >>> shardax.scipy.linalg.hankel(jnp.array([1, 2]), jnp.array([0, 3]))
    Array([[1, 2],
           [2, 3]], dtype=int32)
    """
    c = jnp.asarray(c)
    r = jnp.zeros_like(c) if r is None else jnp.asarray(r)
    for name, v in (("c", c), ("r", r)):
        if v.ndim == 0:
            raise ValueError(f"hankel: {name} must be at least 1-dimensional, got a scalar.")
    c, r = _stacked(c, r)
    n, m = c.shape[-1], r.shape[-1]
    if not n or not m:
        return jnp.zeros((*c.shape[:-1], n, m), jnp.result_type(c, r))
    return _windows(jnp.concatenate([c, r[..., 1:]], axis=-1), n, m, False)


def circulant(c):
    """The matrices (..., n, n) whose columns are `c` (..., n), turned by one place each.

    >>> shardax.scipy.linalg.circulant(jnp.array([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    c = jnp.atleast_1d(jnp.asarray(c))
    n = c.shape[-1]
    if not n:
        return jnp.zeros((*c.shape, 0), c.dtype)
    return jnp.take(c, (jnp.arange(n)[:, None] - jnp.arange(n)[None, :]) % n, axis=-1)


def _below(v):
    """(..., n, n) out of (..., n - 1): v below the diagonal, and zeros."""
    n = v.shape[-1] + 1
    filled = jnp.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, 1)])
    return jnp.where(jnp.eye(n, k=-1, dtype=bool), filled[..., None, :], 0)


def leslie(f, s):
    """The matrices (..., n, n) with first row `f` (..., n) and `s` (..., n - 1) below the diagonal.

    >>> shardax.scipy.linalg.leslie(jnp.array([1.0, 2.0]), jnp.array([0.5]))
    Array([[1. , 2. ],
           [0.5, 0. ]], dtype=float32)
    """
    f, s = jnp.atleast_1d(jnp.asarray(f)), jnp.atleast_1d(jnp.asarray(s))
    if f.shape[-1] < 2:
        raise ValueError(
            f"The length of f along the last axis must be at least 2; got shape {f.shape}."
        )
    if s.shape[-1] != f.shape[-1] - 1:
        raise ValueError(
            "Incorrect lengths for f and s. The length of s along the last axis must be one less "
            f"than the length of f; got f shape {f.shape} and s shape {s.shape}."
        )
    dtype = jnp.result_type(f, s)
    f, s = _stacked(f.astype(dtype), s.astype(dtype))
    return _below(s).at[..., 0, :].set(f)


def companion(a):
    """The companion matrices (..., n, n) of polynomials with coefficients `a` (..., n + 1), highest
    first.

    >>> shardax.scipy.linalg.companion(jnp.array([1.0, -3.0, 2.0]))
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    a = jnp.atleast_1d(inexact(a)[0])
    if a.shape[-1] < 2:
        raise ValueError(
            f"The length of `a` along the last axis must be at least 2; got shape {a.shape}."
        )
    row = -a[..., 1:] / a[..., :1]
    return _below(jnp.ones_like(row[..., 1:])).at[..., 0, :].set(row)


def fiedler(a):
    """The matrices (..., n, n) of distances between the numbers of `a` (..., n).

    >>> shardax.scipy.linalg.fiedler(jnp.array([1, 4]))
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    a = jnp.atleast_1d(jnp.asarray(a))
    return jnp.abs(a[..., None] - a[..., None, :])


def fiedler_companion(a):
    """Fiedler's companion matrices (..., n, n), with five diagonals, of polynomials with
    coefficients `a` (..., n + 1), highest first.

    Source: Fiedler, "A note on companion matrices", 2003.

    >>> shardax.scipy.linalg.fiedler_companion(jnp.array([1.0, -3.0, 2.0]))
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    a = jnp.atleast_1d(inexact(a)[0])
    if a.shape[-1] == 0:
        raise ValueError(
            "fiedler_companion requires the last axis of 'a' to have nonzero length, but got an "
            f"array of shape {a.shape}."
        )
    n = a.shape[-1] - 1
    if n == 0:
        return jnp.zeros((*a.shape[:-1], 0, 0), a.dtype)
    a = -a / a[..., :1]
    i, j = jnp.arange(n)[:, None], jnp.arange(n)[None, :]
    even = i % 2 == 0
    two_on = a[..., jnp.minimum(i + 2, n)]
    one_on = a[..., jnp.minimum(i + 1, n)]
    return jnp.select(
        [
            (i == 0) & (j == 0),
            (i == 1) & (j == 0),
            (j == i + 1) & even,
            (j == i + 2) & even,
            (j == i - 1) & even & (i >= 2),
            (j == i - 2) & ~even & (i >= 3),
        ],
        [
            a[..., 1, None, None],
            jnp.ones_like(two_on),
            two_on,
            jnp.ones_like(two_on),
            one_on,
            jnp.ones_like(two_on),
        ],
        default=jnp.zeros((), a.dtype),
    )


def convolution_matrix(a, n, mode="full"):
    """The matrices A (..., k, n) with A @ v = convolve(a, v, mode), for a (..., m) and v of n
    elements.

    >>> shardax.scipy.linalg.convolution_matrix(jnp.array([1, 2]), 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    n = operator.index(n)
    if n <= 0:
        raise ValueError(f"n must be a positive integer; got {n}.")
    a = jnp.asarray(a)
    if a.ndim == 0:
        raise ValueError("convolution_matrix: a must be at least 1-dimensional, got a scalar.")
    m = a.shape[-1]
    if m < 1:
        raise ValueError(f"len(a) must be at least 1; got shape {a.shape}.")
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"mode must be one of 'full', 'valid', 'same'; got {mode!r}.")
    cut = {"full": 0, "same": min(n, m) - 1, "valid": 2 * (min(n, m) - 1)}[mode]
    above = cut // 2
    width = [(0, 0)] * (a.ndim - 1) + [(0, n - 1)]
    column, row = jnp.pad(a, width), jnp.pad(jnp.flip(a, -1), width)
    length = m + n - 1
    return toeplitz(
        column[..., above : length - (cut - above)], row[..., m - 1 - above : length - above]
    )


def hilbert(n):
    """The Hilbert matrix, 1 / (i + j + 1).

    >>> shardax.scipy.linalg.hilbert(2)
    Array([[1.        , 0.5       ],
           [0.5       , 0.33333334]], dtype=float32)
    """
    i = jnp.arange(n, dtype=float)
    return 1 / (i[:, None] + i[None, :] + 1)


def invhilbert(n):
    """The inverse of the Hilbert matrix.

    >>> shardax.scipy.linalg.invhilbert(2).round()
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """
    k = jnp.arange(n, dtype=float)
    i, j = k[:, None], k[None, :]
    s = i + j
    sign = jnp.where(s % 2 == 0, 1.0, -1.0)
    binomials = comb(n + i, n - j - 1) * comb(n + j, n - i - 1) * comb(s, i) ** 2
    return sign * (s + 1.0) * binomials


def _binomials(n, dtype):
    """n over k by columns, 0 above the diagonal."""
    i = jnp.arange(n, dtype=dtype)
    n, k = i[:, None], i[None, :]
    logarithm = lax.lgamma(n + 1) - lax.lgamma(jnp.abs(n - k) + 1) - lax.lgamma(k + 1)
    return jnp.where(k <= n, jnp.exp(logarithm), 0)


def _kind(kind):
    kind = "symmetric" if kind is None else kind
    if kind not in ("symmetric", "lower", "upper"):
        raise ValueError(f"Expected kind to be one of: ['symmetric', 'lower', 'upper']; got {kind}")
    return kind


def pascal(n, kind=None):
    """Pascal's triangle as a matrix: "lower", "upper", or their product ("symmetric").

    >>> shardax.scipy.linalg.pascal(3, "lower").round()
    Array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 2., 1.]], dtype=float32)
    """
    kind, low = _kind(kind), _binomials(n, jnp.float32)
    return {"lower": lambda: low, "upper": lambda: low.T}.get(kind, lambda: low @ low.T)()


def invpascal(n, kind=None):
    """The inverse of `pascal(n, kind)`.

    >>> shardax.scipy.linalg.invpascal(2).round()
    Array([[ 2., -1.],
           [-1.,  1.]], dtype=float32)
    """
    kind, places = _kind(kind), jnp.arange(n)
    odd = (places[:, None] + places[None, :]) % 2 == 1
    low = _binomials(n, float)
    low = jnp.where(odd, -low, low)
    return {"lower": lambda: low, "upper": lambda: low.T}.get(kind, lambda: low.T @ low)()


def helmert(n, full=False):
    """The Helmert matrix (n - 1, n), whose rows are orthonormal contrasts; `full`: (n, n), with the
    mean first.

    >>> shardax.scipy.linalg.helmert(2)
    Array([[ 0.70710677, -0.70710677]], dtype=float32)
    """
    if n < 1:
        raise ValueError(f"n must be a positive integer; got {n}.")
    size, place = jnp.arange(1, n, dtype=float)[:, None], jnp.arange(n)[None, :]
    root = jnp.sqrt(size * (size + 1))
    out = jnp.where(place < size, 1 / root, jnp.where(place == size, -size / root, 0))
    if not full:
        return out
    return jnp.concatenate([jnp.full((1, n), 1 / math.sqrt(n), out.dtype), out])


def hadamard(n, dtype=int):
    """The Hadamard matrix of a power of 2, of ones and minus ones.

    >>> shardax.scipy.linalg.hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    if n < 1 or n & (n - 1):
        raise ValueError(f"n must be a positive power of 2; got {n}.")
    out = jnp.ones((1, 1), dtype)
    for _ in range(n.bit_length() - 1):
        out = jnp.block([[out, out], [out, -out]])
    return out


def dft(n, scale=None, *, dtype=None):
    """The matrix of the discrete Fourier transform of n numbers; `scale`: None, "sqrtn" or "n", by
    which it is divided.

    >>> shardax.scipy.linalg.dft(2).real
    Array([[ 1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"scale must be None, 'sqrtn', or 'n'; got {scale!r}.")
    dtype = jnp.dtype(jnp.result_type(complex) if dtype is None else dtype)
    if not jnp.issubdtype(dtype, jnp.complexfloating):
        raise ValueError(f"dtype must be a complex floating-point type; got {dtype}.")
    place = jnp.arange(n)
    # The angle of a product that is reduced first is exact for all sizes.
    real = jnp.finfo(dtype).dtype
    angle = ((place[:, None] * place[None, :]) % n).astype(real) * (-2 * math.pi / max(n, 1))
    out = lax.complex(jnp.cos(angle), jnp.sin(angle)).astype(dtype)
    return out / {None: 1, "sqrtn": math.sqrt(n), "n": n}[scale] if scale else out
