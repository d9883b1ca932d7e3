"""shardax.lax.linalg - triangular systems and decompositions of stacks of matrices, as ops.

LAPACK computes them. shardax.numpy.linalg promotes dtypes and broadcasts; these take operands as
they are. The last two dimensions are a matrix, those before them a stack of matrices.

Raises:
  TypeError: an operand is not inexact, or has too few dimensions.
  ValueError: a matrix is not square, or shapes do not fit.
"""

from shardax._base.arrays import asarray, bind, static_jit
from shardax.lax import _linear_solve
from shardax.lax._eigen import EighImplementation as EighImplementation
from shardax.lax._eigen import EigImplementation as EigImplementation
from shardax.lax._eigen import SvdAlgorithm as SvdAlgorithm
from shardax.lax._eigen import eig as eig
from shardax.lax._eigen import eigh as eigh
from shardax.lax._eigen import hessenberg as hessenberg
from shardax.lax._eigen import schur as schur
from shardax.lax._eigen import svd as svd
from shardax.lax._eigen import tridiagonal as tridiagonal
from shardax.lax._linear_solve import triangle as _triangle
from shardax.lax._polar import qdwh as qdwh

__all__ = [
    "EigImplementation",
    "EighImplementation",
    "SvdAlgorithm",
    "cholesky",
    "cholesky_update",
    "eig",
    "eigh",
    "hessenberg",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "ormqr",
    "qdwh",
    "qr",
    "schur",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal",
    "tridiagonal_solve",
]

_PRIMITIVES = (
    "cholesky",
    "cholesky_update",
    "eig",
    "eigh",
    "hessenberg",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "ormqr",
    "qr",
    "schur",
    "svd",
    "triangular_solve",
    "tridiagonal",
    "tridiagonal_solve",
)


def __getattr__(name):
    """Primitives by JAX's names: `cholesky_p` is the op cholesky."""
    if name.endswith("_p") and name[:-2] in _PRIMITIVES:
        from shardax._transform.primitives import by_attribute  # rarely used

        return by_attribute(__name__, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__():
    return sorted([*__all__, *(f"{name}_p" for name in _PRIMITIVES)])


@static_jit("symmetrize_input")
def cholesky(x, *, symmetrize_input=True):
    """The lower triangular L with L L* = x, for Hermitian positive definite (..., n, n); NaN for
    others. If `symmetrize_input` is false, the lower triangle alone is read.

    Example:
      >>> lax.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
      Array([[2., 0.],
             [1., 1.]], dtype=float32)
    """
    x = asarray(x)
    return bind("cholesky", (_linear_solve.symmetrized(x) if symmetrize_input else x,))


def cholesky_update(r_matrix, w_vector):
    """The upper triangular factor of R^T R + w w^T, for real upper triangular R (..., n, n) and w
    (..., n).

    Source: Gill, Golub, Murray, Saunders, "Methods for modifying matrix factorizations", 1974.

    Example:
      >>> lax.linalg.cholesky_update(jnp.eye(2) * 3, jnp.array([4.0, 0.0]))
      Array([[5., 0.],
             [0., 3.]], dtype=float32)
    """
    return bind("cholesky_update", (asarray(r_matrix), asarray(w_vector)))


def householder_product(a, taus):
    """The product of Householder reflections, as a decomposition into q and r leaves them.

    Args:
      a: (..., M, N): vectors below the diagonal.
      taus: (..., K): their factors, K <= N.

    Returns:
      The first N columns of the product, (..., M, N).

    Example:
      >>> lax.linalg.householder_product(jnp.array([[1.0], [2.0]]), jnp.array([0.4])).round(3)
      Array([[ 0.6],
             [-0.8]], dtype=float32)
    """
    return bind("householder_product", (asarray(a), asarray(taus)))


def lu(x):
    """[lu, pivots, permutation] of (..., m, n), with x[permutation] = L U. lu has L without its
    diagonal of ones and U in one matrix. pivots are the swaps of rows i <-> pivots[i], int32 (...,
    min(m, n)), permutation is the order of rows that they make, int32 (..., m).

    Example:
      >>> lax.linalg.lu(jnp.array([[1.0, 2.0], [2.0, 2.0]]))[0]
      Array([[2. , 2. ],
             [0.5, 1. ]], dtype=float32)
    """
    return list(bind("lu", (asarray(x),)))


def lu_pivots_to_permutation(pivots, permutation_size):
    """The order of `permutation_size` rows that the swaps (..., k) of lu make, int32.

    Example:
      >>> lax.linalg.lu_pivots_to_permutation(jnp.array([2, 1]), 3)
      Array([2, 1, 0], dtype=int32)
    """
    pivots = asarray(pivots)
    return bind("lu_pivots_to_permutation", (pivots,), permutation_size=int(permutation_size))


def geqrf(a):
    """(a, taus): R in the upper triangle of (..., m, n), below it reflectors, whose product is Q,
    and their factors."""
    return tuple(bind("geqrf", (asarray(a),)))


def geqp3(a, jpvt):
    """(a, order, taus): as geqrf, of columns in an order that is counted from 1; those that jpvt
    marks come first."""
    return tuple(bind("geqp3", (asarray(a), asarray(jpvt))))


def ormqr(a, taus, c, *, left=True, transpose=False):
    """Q c (`left`) or c Q, or with Q* (`transpose`), for the product Q of reflectors as
    jnp.linalg.qr(mode="raw") gives them (transposed), without making Q.

    Example:
      >>> h, taus = jnp.linalg.qr(jnp.ones((3, 2)), mode="raw")
      >>> lax.linalg.ormqr(h.mT, taus, jnp.eye(3)).shape
      (3, 3)
    """
    operands = (asarray(a), asarray(taus), asarray(c))
    return bind("ormqr", operands, left=bool(left), transpose=bool(transpose))


def qr(x, *, pivoting=False, full_matrices=True, use_magma=None):
    """(q, r) with q r = x, q orthogonal and r upper triangular; square q where `full_matrices`.

    Args:
      pivoting: (q, r, order) with q r = x[:, order], in which r's diagonal does not grow.
      use_magma: LAPACK always computes.

    Example:
      >>> q, r = lax.linalg.qr(jnp.ones((3, 2)), full_matrices=False)
      >>> q.shape, r.shape
      ((3, 2), (2, 2))
    """
    return tuple(
        bind(
            "qr",
            (asarray(x),),
            pivoting=bool(pivoting),
            full_matrices=bool(full_matrices),
            use_magma=use_magma,
        )
    )


@static_jit("alpha", "beta", "symmetrize_output")
def symmetric_product(a_matrix, c_matrix, *, alpha=1.0, beta=0.0, symmetrize_output=False):
    """alpha a a^T + beta c, for a (..., n, m) and a symmetric c (..., n, n).

    Example:
      >>> lax.linalg.symmetric_product(jnp.ones((2, 3)), jnp.zeros((2, 2)))
      Array([[3., 3.],
             [3., 3.]], dtype=float32)
    """
    a, c = asarray(a_matrix), asarray(c_matrix)
    if a.shape[-2] != c.shape[-1] or c.shape[-2] != c.shape[-1]:
        raise ValueError(
            "symmetric_update expects a rectangular matrix of shape (m, n) and a square matrix of "
            f"shape (n, n). Got shapes {a.shape} and {c.shape}."
        )
    out = alpha * _linear_solve.matmul(a, a.mT) + beta * c
    if symmetrize_output:
        out = _triangle(out, True) + _triangle(out, True, 1).mT
    return out


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
    out = _linear_solve.triangular_solve(
        a,
        b,
        bool(left_side),
        bool(lower),
        bool(transpose_a),
        bool(conjugate_a),
        bool(unit_diagonal),
    )
    if not vectors:
        return out
    return out[..., 0] if left_side else out[..., 0, :]


def tridiagonal_solve(dl, d, du, b, *, perturb_singular=False):
    """x with A x = b, for A with the diagonal d, dl below and du above; NaN where A is singular.

    Args:
      dl, d, du: (..., n); the first of dl and the last of du are not used.
      b: (..., n, m).
      perturb_singular: pivots near 0 are moved away from it, so that x is finite.

    Example:
      >>> ones = jnp.ones(2)
      >>> lax.linalg.tridiagonal_solve(ones, 2 * ones, ones, jnp.array([[3.0], [3.0]]))
      Array([[1.],
             [1.]], dtype=float32)
    """
    operands = tuple(asarray(x) for x in (dl, d, du, b))
    return bind("tridiagonal_solve", operands, perturb_singular=bool(perturb_singular))
