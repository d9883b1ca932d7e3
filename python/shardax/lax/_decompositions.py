"""shardax/lax/_decompositions.py - systems of equations, eigenvalues and decompositions of small
matrices.

Everything is made of the ops of shardax, so that it compiles, batches and differentiates like the
rest. The methods are the plain ones: elimination with pivots, Householder's reflections and
Jacobi's rotations.
"""

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind, check_arraylike, inexact_dtype, static_jit
from shardax._base.compositions import concatenate, eye, where
from shardax._transform.maps import vmap
from shardax.lax._dynamic import dynamic_index_in_dim
from shardax.lax._elementwise import stop_gradient
from shardax.lax._loops import fori_loop
from shardax.lax._reductions import argmax, reduce_sum

_functions = _core.functions


def matrices(name, *args, square=False):
    """The operands as arrays of one inexact dtype with two dimensions or more."""
    check_arraylike(f"jnp.linalg.{name}", *args)
    arrays = [asarray(a) for a in args]
    dtype = (
        np.result_type(*(a.dtype for a in arrays))
        if all(a.dtype.kind in "fc" for a in arrays)
        else None
    )
    if dtype is None:
        dtype = _core.result_type(*arrays)[0]
        dtype = inexact_dtype(dtype)
    arrays = [_core.convert(a, dtype) for a in arrays]
    for a in arrays[:1]:
        if a.ndim < 2 or (square and a.shape[-1] != a.shape[-2]):
            raise ValueError(
                f"Argument to {name} must have shape {'[..., n, n]' if square else '[..., m, n]'}, "
                f"got {a.shape}."
            )
    return arrays


def over_batches(fun, *arrays):
    """`fun` of matrices, mapped over all dimensions before the last two, which broadcast."""
    batch = _core.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    for _ in batch:
        fun = vmap(fun)
    return fun(*(_core.broadcast_to(a, batch + a.shape[-2:]) for a in arrays))


def adjoint(a):
    """The conjugate transpose of matrices."""
    return _functions.conj(a.mT) if a.dtype.kind == "c" else a.mT


def _identity(n, dtype):
    return eye(n, n, 0, dtype)


def _upper(a):
    """A matrix with zeros below its diagonal."""
    row, column = (
        bind("iota", (), dtype=np.dtype("int32"), shape=a.shape, dimension=d) for d in (0, 1)
    )
    return where(_functions.greater(row, column), a.dtype.type(0), a)


def _diagonal(a):
    n = np.arange(min(a.shape))
    return a[n, n]


def _sum(a):
    return reduce_sum(a, range(a.ndim))


def _order(a, descending=False):
    """The indices that sort a vector; of equal elements the first comes first."""
    places = bind("iota", (), dtype=np.dtype("int32"), shape=a.shape, dimension=0)
    step = -1 if descending else 1
    operands = (a[::step], places[::step])
    return bind("sort", operands, dimension=0, is_stable=True, num_keys=1)[1][::step]


def _column(a, k):
    return dynamic_index_in_dim(a, k, 1, keepdims=False)


def _row(a, k):
    return dynamic_index_in_dim(a, k, 0, keepdims=False)


@static_jit("singular")
def eliminated(a, b, singular=False):
    """Gauss-Jordan elimination with row pivots: (the solution x of a x = b, the pivots, the sign of
    the row order).

    a: (n, n), b: (n, m). With `singular`, a pivot that is 0 is passed over instead of divided by.
    """
    n = a.shape[0]
    rows = np.arange(n, dtype=np.int32)

    def step(k, state):
        m, pivots, sign = state
        size = where(rows >= k, _functions.abs(_column(m, k)), -1)
        p = argmax(size, 0, np.int32)
        m = m[where(rows == k, p, where(rows == p, k, rows))]
        pivot = _row(m, k)[k]
        divisor = where(pivot == 0, 1, pivot) if singular else pivot
        row = (_row(m, k) / divisor)[None]
        here = (rows == k)[:, None]
        m = where(here, row, m - where(here, 0, _column(m, k)[:, None]) * row)
        return m, where(rows == k, pivot, pivots), where(p == k, sign, -sign)

    start = (
        concatenate([a, b], 1),
        _core.full((n,), 1, a.dtype),
        _core.full((), 1, a.dtype),
    )
    m, pivots, sign = fori_loop(0, n, step, start)
    return m[:, n:], pivots, sign


@static_jit()
def reflected(a):
    """The QR decomposition of (m, n) by Householder's reflections: (q (m, m), r (m, n))."""
    m, n = a.shape
    if min(m, n) == 0:
        return _identity(m, a.dtype), a
    rows = np.arange(m)

    def step(k, state):
        q, r = state
        x = where(rows >= k, _column(r, k), 0)
        below = where(rows > k, x, 0)
        head, left = x[k], _sum(_functions.square(_functions.abs(below)))
        flat = left == 0
        size = _functions.abs(head)
        phase = where(size == 0, 1, head / where(size == 0, 1, size))
        norm = _functions.sqrt(where(flat, 1, _functions.square(size) + left))
        v = where(rows == k, head + phase * norm, below)
        scale = 2 / _sum(_functions.square(_functions.abs(where(flat, 1, v))))
        v = where(flat, 0, v).astype(a.dtype)
        across = _functions.conj(v)
        r = r - scale.astype(a.dtype) * v[:, None] * (across @ r)[None, :]
        q = q - scale.astype(a.dtype) * (q @ v)[:, None] * across[None, :]
        return q, r

    q, r = fori_loop(0, min(m, n), step, (_identity(m, a.dtype), a))
    return q, _upper(r)


def _pairs(n):
    """All pairs p < q, as often as Jacobi's method needs to converge."""
    pairs = np.array([(p, q) for p in range(n) for q in range(p + 1, n)], np.int32).reshape((-1, 2))
    return asarray(np.tile(pairs, (12, 1)))


def _rotation(pp, qq, pq):
    """(cosine, sine, phase) of the rotation of coordinates p and q after which pq is 0."""
    size = _functions.abs(pq)
    done = size == 0
    phase = where(done, 1, _functions.conj(pq) / where(done, 1, size))
    tau = (qq - pp) / (2 * where(done, 1, size))
    tan = where(tau >= 0, 1, -1) / (_functions.abs(tau) + _functions.sqrt(1 + tau * tau))
    tan = where(done, 0, tan)
    cos = 1 / _functions.sqrt(1 + tan * tan)
    return cos, cos * tan, phase


def _rotate(a, p, q, cos, sin, phase):
    """Columns p and q of `a`, rotated."""
    x, y = _column(a, p), phase * _column(a, q)
    place = np.arange(a.shape[1])
    new_p, new_q = (cos * x - sin * y).astype(a.dtype), (sin * x + cos * y).astype(a.dtype)
    return where(place == p, new_p[:, None], where(place == q, new_q[:, None], a))


@static_jit()
def _diagonalized(a):
    n = a.shape[0]
    pairs = _pairs(n)

    def step(i, state):
        a, v = state
        p, q = pairs[i, 0], pairs[i, 1]
        turn = _rotation(_functions.real(a[p, p]), _functions.real(a[q, q]), a[p, q])
        a = adjoint(_rotate(a, p, q, *turn))
        return adjoint(_rotate(a, p, q, *turn)), _rotate(v, p, q, *turn)

    a, v = fori_loop(0, pairs.shape[0], step, (a, _identity(n, a.dtype)))
    w = _functions.real(_diagonal(a))
    order = _order(w)
    return w[order], v[:, order]


def eigen(a):
    """(eigenvalues ascending (n,), eigenvectors (n, n) in columns) of a Hermitian (n, n), by
    Jacobi's rotations.
    """
    fixed = stop_gradient(a)
    w, v = (stop_gradient(x) for x in _diagonalized(fixed))
    # The rotations are not differentiated: what `a` changes to first order is, and it is 0 here.
    change = adjoint(v) @ (a - fixed) @ v
    gap = w[None, :] - w[:, None]
    weights = where(gap == 0, 0, 1 / where(gap == 0, 1, gap)).astype(a.dtype)
    return w + _functions.real(_diagonal(change)), v + v @ (weights * change)


@static_jit()
def singular(a):
    """(u (m, m), s descending (min(m, n),), v* (n, n)), by one-sided Jacobi rotations of the
    columns of a or a*.
    """
    m, n = a.shape
    if m < n:
        u, s, vh = singular(adjoint(a))
        return adjoint(vh), s, adjoint(u)
    if n == 0:
        none = _core.full((0,), 0, _functions.real(a).dtype)
        return _identity(m, a.dtype), none, _identity(0, a.dtype)
    pairs = _pairs(n)

    def step(i, state):
        x, v = state
        p, q = pairs[i, 0], pairs[i, 1]
        left, right = _column(x, p), _column(x, q)
        squared = [_sum(_functions.square(_functions.abs(c))) for c in (left, right)]
        turn = _rotation(*squared, _sum(_functions.conj(left) * right))
        return _rotate(x, p, q, *turn), _rotate(v, p, q, *turn)

    x, v = fori_loop(0, pairs.shape[0], step, (a, _identity(n, a.dtype)))
    s = _functions.sqrt(reduce_sum(_functions.square(_functions.abs(x)), (0,)))
    order = _order(s, descending=True)
    s, x, v = s[order], x[:, order], v[:, order]
    # The columns of x are orthogonal: its QR decomposition completes them to a basis, up to phases.
    q, r = reflected(x)
    d = _diagonal(r)
    size = _functions.abs(d)
    phase = where(size == 0, 1, d / where(size == 0, 1, size)).astype(a.dtype)
    phase = concatenate([phase, _core.full((m - n,), 1, a.dtype)])
    return q * phase[None], s, adjoint(v)


# ---- of stacks -----------------------------------------------------------------------------------


def qr(a, complete):
    """(q, r) of (..., m, n); a square q where `complete`."""
    (a,) = matrices("qr", a)
    q, r = over_batches(reflected, a)
    k = min(a.shape[-2:])
    return (q, r) if complete else (q[..., :, :k], r[..., :k, :])


def svd(a, full):
    """(u, s, v*) of (..., m, n); square u and v* where `full`."""
    (a,) = matrices("svd", a)
    u, s, vh = over_batches(singular, a)
    k = s.shape[-1]
    return (u, s, vh) if full else (u[..., :, :k], s, vh[..., :k, :])


def eigh(a, symmetrize):
    """(eigenvalues, eigenvectors) of Hermitian (..., n, n)."""
    (a,) = matrices("eigh", a, square=True)
    return over_batches(eigen, (a + adjoint(a)) / 2 if symmetrize else a)
