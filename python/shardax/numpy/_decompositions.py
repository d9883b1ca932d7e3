"""shardax/numpy/_decompositions.py - systems of equations, eigenvalues and decompositions of small
matrices.

Everything is made of the ops of shardax, so that it compiles, batches and differentiates like the
rest. The methods are the plain ones: elimination with pivots, Householder's reflections and
Jacobi's rotations.
"""

import numpy as np

from shardax import _core
from shardax._api import vmap
from shardax.numpy import (
    _creation,
    _join,
    _matrices,
    _products,
    _reductions,
    _shape,
    _sorting,
    _where,
)
from shardax.numpy._common import asarray, check_arraylike, inexact_dtype, static_jit

_functions = _core.functions
matmul = _products.matmul


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
    return (
        _functions.conj(_shape.swapaxes(a, -1, -2))
        if a.dtype.kind == "c"
        else _shape.swapaxes(a, -1, -2)
    )


def _column(a, k):
    from shardax import lax

    return lax.dynamic_index_in_dim(a, k, 1, keepdims=False)


def _row(a, k):
    from shardax import lax

    return lax.dynamic_index_in_dim(a, k, 0, keepdims=False)


def _loop(n, body, start):
    from shardax import lax

    return lax.fori_loop(0, n, body, start)


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
        size = _where.where(rows >= k, _functions.abs(_column(m, k)), -1)
        p = _reductions.argmax(size)
        m = m[_where.where(rows == k, p, _where.where(rows == p, k, rows))]
        pivot = _row(m, k)[k]
        divisor = _where.where(pivot == 0, 1, pivot) if singular else pivot
        row = (_row(m, k) / divisor)[None]
        here = (rows == k)[:, None]
        m = _where.where(here, row, m - _where.where(here, 0, _column(m, k)[:, None]) * row)
        return m, _where.where(rows == k, pivot, pivots), _where.where(p == k, sign, -sign)

    start = (
        _join.concatenate([a, b], 1),
        _creation.ones((n,), a.dtype),
        _creation.ones((), a.dtype),
    )
    m, pivots, sign = _loop(n, step, start)
    return m[:, n:], pivots, sign


@static_jit()
def reflected(a):
    """The QR decomposition of (m, n) by Householder's reflections: (q (m, m), r (m, n))."""
    m, n = a.shape
    if min(m, n) == 0:
        return _matrices.eye(m, dtype=a.dtype), a
    rows = np.arange(m)

    def step(k, state):
        q, r = state
        x = _where.where(rows >= k, _column(r, k), 0)
        below = _where.where(rows > k, x, 0)
        head, left = x[k], _reductions.sum(_functions.square(_functions.abs(below)))
        flat = left == 0
        size = _functions.abs(head)
        phase = _where.where(size == 0, 1, head / _where.where(size == 0, 1, size))
        norm = _functions.sqrt(_where.where(flat, 1, _functions.square(size) + left))
        v = _where.where(rows == k, head + phase * norm, below)
        scale = 2 / _reductions.sum(_functions.square(_functions.abs(_where.where(flat, 1, v))))
        v = _where.where(flat, 0, v).astype(a.dtype)
        across = _functions.conj(v)
        r = r - scale.astype(a.dtype) * v[:, None] * matmul(across, r)[None, :]
        q = q - scale.astype(a.dtype) * matmul(q, v)[:, None] * across[None, :]
        return q, r

    q, r = _loop(min(m, n), step, (_matrices.eye(m, dtype=a.dtype), a))
    return q, _matrices.triu(r)


def _pairs(n):
    """All pairs p < q, as often as Jacobi's method needs to converge."""
    pairs = np.array([(p, q) for p in range(n) for q in range(p + 1, n)], np.int32).reshape((-1, 2))
    return asarray(np.tile(pairs, (12, 1)))


def _rotation(pp, qq, pq):
    """(cosine, sine, phase) of the rotation of coordinates p and q after which pq is 0."""
    size = _functions.abs(pq)
    done = size == 0
    phase = _where.where(done, 1, _functions.conj(pq) / _where.where(done, 1, size))
    tau = (qq - pp) / (2 * _where.where(done, 1, size))
    tan = _where.where(tau >= 0, 1, -1) / (_functions.abs(tau) + _functions.sqrt(1 + tau * tau))
    tan = _where.where(done, 0, tan)
    cos = 1 / _functions.sqrt(1 + tan * tan)
    return cos, cos * tan, phase


def _rotate(a, p, q, cos, sin, phase):
    """Columns p and q of `a`, rotated."""
    x, y = _column(a, p), phase * _column(a, q)
    place = np.arange(a.shape[1])
    new_p, new_q = (cos * x - sin * y).astype(a.dtype), (sin * x + cos * y).astype(a.dtype)
    return _where.where(place == p, new_p[:, None], _where.where(place == q, new_q[:, None], a))


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

    a, v = _loop(pairs.shape[0], step, (a, _matrices.eye(n, dtype=a.dtype)))
    w = _functions.real(_matrices.diagonal(a))
    order = _sorting.argsort(w)
    return w[order], v[:, order]


def eigen(a):
    """(eigenvalues ascending (n,), eigenvectors (n, n) in columns) of a Hermitian (n, n), by
    Jacobi's rotations.
    """
    from shardax import lax

    fixed = lax.stop_gradient(a)
    w, v = (lax.stop_gradient(x) for x in _diagonalized(fixed))
    # The rotations are not differentiated: what `a` changes to first order is, and it is 0 here.
    change = matmul(matmul(adjoint(v), a - fixed), v)
    gap = w[None, :] - w[:, None]
    weights = _where.where(gap == 0, 0, 1 / _where.where(gap == 0, 1, gap)).astype(a.dtype)
    return w + _functions.real(_matrices.diagonal(change)), v + matmul(v, weights * change)


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
        none = _creation.zeros(0, _functions.real(a).dtype)
        return _matrices.eye(m, dtype=a.dtype), none, _matrices.eye(0, dtype=a.dtype)
    pairs = _pairs(n)

    def step(i, state):
        x, v = state
        p, q = pairs[i, 0], pairs[i, 1]
        left, right = _column(x, p), _column(x, q)
        squared = [_reductions.sum(_functions.square(_functions.abs(c))) for c in (left, right)]
        turn = _rotation(*squared, _reductions.sum(_functions.conj(left) * right))
        return _rotate(x, p, q, *turn), _rotate(v, p, q, *turn)

    x, v = _loop(pairs.shape[0], step, (a, _matrices.eye(n, dtype=a.dtype)))
    s = _functions.sqrt(_reductions.sum(_functions.square(_functions.abs(x)), 0))
    order = _sorting.argsort(s, descending=True)
    s, x, v = s[order], x[:, order], v[:, order]
    # The columns of x are orthogonal: its QR decomposition completes them to a basis, up to phases.
    q, r = reflected(x)
    d = _matrices.diagonal(r)
    size = _functions.abs(d)
    phase = _where.where(size == 0, 1, d / _where.where(size == 0, 1, size)).astype(a.dtype)
    phase = _join.concatenate([phase, _creation.ones((m - n,), a.dtype)])
    return q * phase[None], s, adjoint(v)
