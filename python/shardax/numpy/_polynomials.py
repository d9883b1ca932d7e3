"""shardax/numpy/_polynomials.py - polynomials as vectors of coefficients, highest power first."""

import operator

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import concatenate, stack, where
from shardax._base.arrays import asarray, check_arraylike, in_one_program, known
from shardax.lax._layout import broadcasted_iota
from shardax.numpy._indexing.insert import append
from shardax.numpy._linear_algebra import convolutions as _convolutions
from shardax.numpy._linear_algebra import products as _products
from shardax.numpy._reductions import reductions as _reductions
from shardax.numpy._shaping import shape as _shape
from shardax.numpy._shaping.trim import trim_zeros

_functions = _core.functions


def _vector(name, a):
    check_arraylike(name, a)
    a = _shape.atleast_1d(asarray(a))
    if a.ndim != 1:
        raise ValueError(f"{name}: coefficients must be a vector, got shape {a.shape}.")
    return a


def _promoted(name, *polynomials):
    vectors = [_vector(name, p) for p in polynomials]
    dtype = _core.result_type(*vectors)[0]
    return [asarray(v, dtype) for v in vectors]


def _aligned(name, a1, a2):
    """Both with as many coefficients (rows of them) as the longer one."""
    check_arraylike(name, a1, a2)
    dtype = _core.result_type(a1, a2)[0]
    a1, a2 = (_shape.atleast_1d(asarray(a, dtype)) for a in (a1, a2))
    if a1.ndim != a2.ndim and a1.shape[0] != a2.shape[0]:
        raise ValueError(
            f"{name}: coefficients must have the same number of dimensions, got shapes {a1.shape} "
            f"and {a2.shape}."
        )
    size = max(a1.shape[0], a2.shape[0])
    missing = [_core.full((size - a.shape[0], *a.shape[1:]), 0, a.dtype) for a in (a1, a2)]
    return [concatenate([zeros, a]) for zeros, a in zip(missing, (a1, a2))]


@in_one_program()
def polyadd(a1, a2):
    """The sum of two polynomials.

    Args:
      a1, a2: vectors of coefficients, highest power first.

    Returns:
      A vector as long as the longer one.

    Example:
      >>> jnp.polyadd(jnp.array([1, 2]), jnp.array([1, 0, 0]))
      Array([1, 1, 2], dtype=int32)
    """
    a1, a2 = _aligned("polyadd", a1, a2)
    return a1 + a2


@in_one_program()
def polysub(a1, a2):
    """The difference of two polynomials.

    Args:
      a1, a2: vectors of coefficients, highest power first.

    Returns:
      A vector as long as the longer one.

    Example:
      >>> jnp.polysub(jnp.array([1, 2]), jnp.array([1, 0, 0]))
      Array([-1,  1,  2], dtype=int32)
    """
    a1, a2 = _aligned("polysub", a1, a2)
    return a1 - a2


def polymul(a1, a2, *, trim_leading_zeros=False):
    """The product of two polynomials.

    Args:
      a1, a2: vectors of coefficients, highest power first.
      trim_leading_zeros: whether zeros in front are left out, which jit does not allow.

    Returns:
      A vector of len(a1) + len(a2) - 1 floats.

    Example:
      >>> jnp.polymul(jnp.array([1, 1]), jnp.array([1, -1]))
      Array([ 1.,  0., -1.], dtype=float32)
    """
    a1, a2 = (_core.promote("inexact", a)[0] for a in _promoted("polymul", a1, a2))
    if trim_leading_zeros and len(a1) > 1:
        a1, a2 = trim_zeros(a1, trim="f"), trim_zeros(a2, trim="f")
    return _convolutions.convolve(a1, a2, mode="full")


def polydiv(u, v, *, trim_leading_zeros=False):
    """The quotient and the remainder of two polynomials.

    Args:
      u, v: vectors of coefficients of dividend and divisor, highest power first.
      trim_leading_zeros: whether zeros in front of the remainder are left out, which jit does not
        allow.

    Returns:
      (quotient, remainder), vectors of floats.

    Example:
      >>> jnp.polydiv(jnp.array([1.0, 3, 5]), jnp.array([1.0, 1]))
      (Array([1., 2.], dtype=float32), Array([0., 0., 3.], dtype=float32))
    """
    u, v = (_core.promote("inexact", x)[0] for x in _promoted("polydiv", u, v))
    m, n = len(u) - 1, len(v) - 1
    quotient = []
    for k in range(max(m - n + 1, 0)):
        d = u[k] / v[0]
        quotient.append(d)
        u = u.at[k : k + n + 1].add(-d * v)
    q = stack(quotient) if quotient else _core.full((1,), 0, u.dtype)
    return q, trim_zeros(u, trim="f") if trim_leading_zeros else u


def _order(name, m):
    m = operator.index(known(m, f"It is argument 'm' of jnp.{name}."))
    if m < 0:
        raise ValueError(
            f"Order of {'derivative' if name == 'polyder' else 'integral'} must be "
            f"positive, got {m}."
        )
    return m


def _steps(size, m, dtype):
    """The factors of m derivatives of the powers size - 1, ..., 0: e (e - 1) ... (e - m + 1).
    Factors below 1 count as 1: a constant of an integration meets the later ones only."""
    power, step = (broadcasted_iota(dtype, (m, size), d) for d in (1, 0))
    factors = _functions.maximum(power - step, _core.full((), 1, dtype))
    return _reductions.prod(factors, axis=0)[::-1]


def polyder(p, m=1):
    """The m-th derivative of a polynomial.

    Args:
      p: a vector of coefficients, highest power first.
      m: how often to differentiate, from 0 on.

    Returns:
      A vector of len(p) - m floats.

    Raises:
      ValueError: `m` is negative.

    Example:
      >>> jnp.polyder(jnp.array([1, 2, 3]))
      Array([2., 2.], dtype=float32)
    """
    m = _order("polyder", m)
    p = _core.promote("inexact", _vector("polyder", p))[0]
    left = max(len(p) - m, 0)
    return p[:left] * _steps(len(p), m, p.dtype)[:left] if m and left else p[:left]


def polyint(p, m=1, k=None):
    """The m-th integral of a polynomial.

    Args:
      p: a vector of coefficients, highest power first.
      m: how often to integrate, from 0 on.
      k: the constants of integration, one or m of them; 0 unless given.

    Returns:
      A vector of len(p) + m floats.

    Raises:
      ValueError: `m` is negative, or there are not m constants.

    Example:
      >>> jnp.polyint(jnp.array([2, 2]))
      Array([1., 2., 0.], dtype=float32)
    """
    m = _order("polyint", m)
    p, constants = _vector("polyint", p), _vector("polyint", 0 if k is None else k)
    if len(constants) not in (1, m):
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or m.")
    if m == 0:
        return _core.promote("inexact", p)[0]
    p, constants = _promoted("polyint", p, constants)
    p = _core.promote("inexact", p)[0]
    steps = _steps(len(p) + m, m, p.dtype)  # first: it says where there is no memory for so many
    return append(p, _core.broadcast_to(constants.astype(p.dtype), (m,))) / steps


@in_one_program()
def _multiplied_out(roots):
    """The product of all x - root: coefficients, as many of them as there are after each root."""
    from shardax import lax  # at first use: quick import

    n = roots.shape[0]
    place = np.arange(1, n + 1)

    def step(lower, turn):
        root, degree = turn
        higher = concatenate([_core.full((1,), 1, roots.dtype), lower[:-1]])
        return where(place <= degree, lower - root * higher, lower), None

    lower, _ = lax.scan(step, _core.full((n,), 0, roots.dtype), (roots, place))
    return concatenate([_core.full((1,), 1, roots.dtype), lower])


def poly(seq_of_zeros):
    """The polynomial with given roots and leading coefficient 1.

    Args:
      seq_of_zeros: a vector of N roots, or a square matrix, for its characteristic polynomial.

    Returns:
      A vector of N + 1 coefficients, highest power first; complex for a matrix.

    Raises:
      ValueError: neither a vector nor a square matrix with elements.

    Example:
      >>> jnp.poly(jnp.array([1.0, 2.0]))
      Array([ 1., -3.,  2.], dtype=float32)
    """
    check_arraylike("poly", seq_of_zeros)
    roots = _shape.atleast_1d(_core.promote("inexact", seq_of_zeros)[0])
    if roots.ndim == 2 and roots.shape[0] == roots.shape[1] != 0:
        from shardax.numpy import linalg  # at first use: quick import

        roots = linalg.eigvals(roots)
    if roots.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if roots.shape[0] == 0:
        return _core.full((), 1, roots.dtype)
    return _multiplied_out(roots)


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial of degree `deg` through points, by least squares.

    Args:
      x: the places, a vector of M.
      y: the values there, (M,), or (M, K) for K polynomials.
      deg: the degree.
      rcond: singular values below this part of the largest count as 0; len(x) * eps unless given.
      full: whether to return the residuals, the rank, the singular values and rcond as well.
      w: weights of the points.
      cov: whether to return the covariance of the coefficients as well; "unscaled": without the
        size of the errors.

    Returns:
      A vector of deg + 1 coefficients, highest power first, or (deg + 1, K).

    Raises:
      ValueError: `deg` is negative, or there are too few points for `cov`.
      TypeError: shapes do not fit.

    Example:
      >>> jnp.polyfit(jnp.arange(3.0), 2 * jnp.arange(3.0) + 1, 1).round(3)
      Array([2., 1.], dtype=float32)
    """
    from shardax.numpy import linalg  # at first use: quick import

    check_arraylike("polyfit", x, y)
    deg = operator.index(known(deg, "It is argument 'deg' of jnp.polyfit."))
    if deg < 0:
        raise ValueError(f"expected deg >= 0, got {deg}")
    x, y = (_core.promote("inexact", v)[0] for v in (x, y))
    if x.ndim != 1:
        raise TypeError(f"expected 1D vector for x, got shape {x.shape}")
    if x.shape[0] == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError(f"expected 1D or 2D array for y, got shape {y.shape}")
    if y.shape[0] != x.shape[0]:
        raise TypeError(f"expected x and y to have same length, got {x.shape} and {y.shape}")
    rcond = len(x) * float(np.finfo(x.dtype).eps) if rcond is None else rcond
    powers = asarray(np.arange(deg, -1, -1)[None], x.dtype)
    left, right = x[:, None] ** powers, y
    if w is not None:
        weights = _core.promote("inexact", w)[0]
        if weights.shape != x.shape:
            raise TypeError(f"expected w and y to have the same length, got shape {weights.shape}")
        left = left * weights[:, None]
        right = right * (weights if y.ndim == 1 else weights[:, None])
    size = _functions.sqrt((left * left).sum(0))
    size = where(size == 0, 1, size)
    size = size[None]
    found, residuals, rank, singular = linalg.lstsq(left / size, right, rcond)
    found = found / size.T if found.ndim == 2 else found / size[0]
    if full:
        return found, residuals, rank, singular, rcond
    if not cov:
        return found
    base = linalg.inv(_products.dot((left / size).T, left / size)) / _products.outer(size, size)
    if cov != "unscaled":
        if len(x) <= deg + 1:
            raise ValueError(
                "the number of data points must exceed order to scale the covariance matrix; got "
                f"{len(x)} points for degree {deg}."
            )
        scale = residuals / (len(x) - deg - 1)
        base = base * scale[0] if y.ndim == 1 else base[:, :, None] * scale
    elif y.ndim == 2:
        base = base[:, :, None]
    return found, base


def polyval(p, x, *, unroll=16):
    """The value of a polynomial at each element, by Horner's rule.

    Args:
      p: coefficients along dimension 0, highest power first.
      x: numbers of any shape.
      unroll: a bool or a number from 0 on; it does not change the program, one without a loop.

    Returns:
      An array of the shape of `x`.

    Raises:
      ValueError: `unroll` is negative.

    Example:
      >>> jnp.polyval(jnp.array([1, 0, -2]), jnp.array([2, 3]))
      Array([2, 7], dtype=int32)
    """
    if not isinstance(unroll, bool) and operator.index(unroll) < 0:
        raise ValueError(
            f"polyval: unroll is {unroll}; `unroll` must be a `bool` or a non-negative `int`."
        )
    check_arraylike("polyval", p, x)
    p, x = asarray(p), asarray(x)
    dtype = _core.result_type(p, x)[0]
    p, x = _core.convert(p, dtype), _core.convert(x, dtype)
    return _one_polyval(p, x) if p.shape[0] <= _LONG else _polyval(p, x)


# From so many coefficients on, a program of all terms takes longer to make than it saves.
_LONG = 64


def _polyval(p, x):
    out = _core.full(x.shape, 0, x.dtype)
    for i in range(operator.index(p.shape[0])):
        out = _functions.add(_functions.multiply(out, x), p[i])
    return out


_one_polyval = in_one_program()(_polyval)
