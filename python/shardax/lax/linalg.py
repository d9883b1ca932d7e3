"""shardax.lax.linalg - triangular systems and decompositions of stacks of matrices, as ops.

shardax.numpy.linalg promotes dtypes and broadcasts; these take operands as they are.
"""

import enum

import shardax._core as _core
from shardax._base.arrays import asarray, bind, static_jit
from shardax._base.compositions import concatenate as _concatenate
from shardax._base.compositions import moveaxis as _moveaxis
from shardax._base.compositions import where as _where
from shardax._devices.filled import full_like as _full_like
from shardax.lax import _decompositions
from shardax.lax._loops import scan

_functions = _core.functions

__all__ = [
    "EighImplementation",
    "SvdAlgorithm",
    "cholesky",
    "eigh",
    "qr",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal_solve",
]


class SvdAlgorithm(enum.Enum):
    """Names of algorithms that svd accepts; it always rotates, as Jacobi."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


class EighImplementation(enum.Enum):
    """Names of algorithms that eigh accepts; it always rotates, as Jacobi."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


def cholesky(x, *, symmetrize_input=True):
    """The lower triangular L with L L* = x, for Hermitian positive definite (..., n, n); NaN for
    others. Where `symmetrize_input` is false, the lower triangle alone is read.

    Raises:
      ValueError: x is not (..., n, n).

    Example:
      >>> lax.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
      Array([[2., 0.],
             [1., 1.]], dtype=float32)
    """
    x = asarray(x)
    if symmetrize_input and x.ndim >= 2 and x.shape[-2] == x.shape[-1]:
        x = (x + _decompositions.adjoint(x)) / 2
    return bind("cholesky", (x,))


def triangular_solve(
    a,
    b,
    *,
    left_side=False,
    lower=False,
    transpose_a=False,
    conjugate_a=False,
    unit_diagonal=False,
):
    """x with op(a) x = b (`left_side`), or x op(a) = b.

    Args:
      a: (..., n, n), of which one triangle is read: the lower one, or the upper one.
      b: (..., n, m), or (..., m, n) for the right side; or one vector for each matrix, (..., n).
      transpose_a, conjugate_a: what op does.
      unit_diagonal: the diagonal of a counts as ones.

    Raises:
      TypeError: shapes or dtypes do not fit.

    Example:
      >>> a = jnp.array([[2.0, 0.0], [1.0, 1.0]])
      >>> lax.linalg.triangular_solve(a, jnp.array([[2.0], [3.0]]), left_side=True, lower=True)
      Array([[1.],
             [2.]], dtype=float32)
    """
    a, b = asarray(a), asarray(b)
    vectors = b.ndim == a.ndim - 1
    if vectors:
        b = b[..., None] if left_side else b[..., None, :]
    out = bind(
        "triangular_solve",
        (a, b),
        left_side=bool(left_side),
        lower=bool(lower),
        transpose_a=bool(transpose_a),
        conjugate_a=bool(conjugate_a),
        unit_diagonal=bool(unit_diagonal),
    )
    if not vectors:
        return out
    return out[..., 0] if left_side else out[..., 0, :]


def qr(x, *, pivoting=False, full_matrices=True, use_magma=None):
    """(q, r) with q r = x, q orthogonal and r upper triangular; square q where `full_matrices`.

    Example:
      >>> q, r = lax.linalg.qr(jnp.ones((3, 2)), full_matrices=False)
      >>> q.shape, r.shape
      ((3, 2), (2, 2))
    """
    if pivoting:
        raise NotImplementedError("qr: pivoting must be False.")
    return tuple(_decompositions.qr(x, full_matrices))


def svd(x, *, full_matrices=True, compute_uv=True, subset_by_index=None, algorithm=None):
    """(u, s, v*) with u diag(s) v* = x and s descending; compute_uv=False: s alone.

    Example:
      >>> lax.linalg.svd(jnp.diag(jnp.array([1.0, 2.0])), compute_uv=False)
      Array([2., 1.], dtype=float32)
    """
    if subset_by_index is not None:
        raise NotImplementedError("subset_by_index is not supported.")
    u, s, vh = _decompositions.svd(x, full_matrices)
    return (u, s, vh) if compute_uv else s


def eigh(
    x,
    *,
    lower=True,
    symmetrize_input=True,
    sort_eigenvalues=True,
    subset_by_index=None,
    implementation=None,
):
    """(eigenvectors in columns, eigenvalues ascending) of Hermitian (..., n, n).

    Example:
      >>> lax.linalg.eigh(jnp.diag(jnp.array([2.0, 1.0])))[1]
      Array([1., 2.], dtype=float32)
    """
    if subset_by_index is not None:
        raise NotImplementedError("eigh: subset_by_index must be None.")
    values, vectors = _decompositions.eigh(x, symmetrize_input)
    return vectors, values


def symmetric_product(a_matrix, c_matrix, *, alpha=1.0, beta=0.0, symmetrize_output=False):
    """alpha * a a^T + beta * c, for a (..., n, m) and a symmetric c (..., n, n).

    Example:
      >>> lax.linalg.symmetric_product(jnp.ones((2, 3)), jnp.zeros((2, 2)))
      Array([[3., 3.],
             [3., 3.]], dtype=float32)
    """
    a, c = asarray(a_matrix), asarray(c_matrix)
    return alpha * (a @ a.mT) + beta * c


def tridiagonal_solve(dl, d, du, b, *, perturb_singular=False):
    """x with A x = b, for A with the diagonal d, dl below and du above.

    Args:
      dl, d, du: (..., n); the first of dl and the last of du are not used.
      b: (..., n, m).

    Raises:
      ValueError: shapes or dtypes do not fit.

    Example:
      >>> ones = jnp.ones(2)
      >>> lax.linalg.tridiagonal_solve(ones, 2 * ones, ones, jnp.array([[3.0], [3.0]]))
      Array([[1.],
             [1.]], dtype=float32)
    """
    dl, d, du, b = (asarray(x) for x in (dl, d, du, b))
    if not d.shape == dl.shape == du.shape:
        raise ValueError(
            "tridiagonal_solve requires that all diagonal arguments have the same shape, got "
            f"{dl.shape}, {d.shape} and {du.shape}."
        )
    if b.ndim != d.ndim + 1 or b.shape[:-1] != d.shape:
        raise ValueError(
            "tridiagonal_solve requires that the leading dimensions of b equal the dimensions of "
            f"the diagonal arguments, got {b.shape} and {d.shape}."
        )
    if not d.dtype == dl.dtype == du.dtype == b.dtype:
        raise ValueError(
            "tridiagonal_solve requires that all arguments have the same dtype, got "
            f"{dl.dtype}, {d.dtype}, {du.dtype} and {b.dtype}."
        )
    return _tridiagonal(dl, d, du, b)


@static_jit()
def _tridiagonal(dl, d, du, b):
    """Elimination downwards, in which a row changes places with the next where its pivot is the
    smaller one, and substitution upwards; all systems go along.
    """

    def down(row, following):
        swap = _functions.abs(following[0]) > _functions.abs(row[0])
        row = (row[0], row[1], _full_like(row[1], 0), row[2])
        pairs = [
            (_where(_like(swap, x), y, x), _where(_like(swap, x), x, y))
            for x, y in zip(row, following)
        ]
        upper, lower = ([pair[i] for pair in pairs] for i in (0, 1))
        factor = lower[0] / upper[0]
        left = [y - _like(factor, x) * x for x, y in zip(upper[1:], lower[1:])]
        return tuple(left), tuple(upper)

    def up(after, row):
        pivot, next_factor, third_factor, known = row
        x = known - _like(next_factor, known) * after[0] - _like(third_factor, known) * after[1]
        x = x / _like(pivot, known)
        return (x, after[0]), x

    rows = [_moveaxis(v, axis, 0) for v, axis in ((dl, -1), (d, -1), (du, -1), (b, -2))]
    beyond = [_concatenate([v[1:], _full_like(v[:1], 0)]) for v in rows]
    _, eliminated = scan(down, (rows[1][0], rows[2][0], rows[3][0]), tuple(beyond))
    nothing = _full_like(rows[3][0], 0)
    _, x = scan(up, (nothing, nothing), eliminated, reverse=True)
    return _moveaxis(x, 0, -2)


def _like(factor, x):
    """A number for each system, beside the system's right-hand sides."""
    return factor[..., None] if x.ndim > factor.ndim else factor
