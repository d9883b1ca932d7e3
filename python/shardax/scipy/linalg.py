"""shardax.scipy.linalg - systems of equations, decompositions, functions of matrices, and matrices
with a name.

Operands are promoted to an inexact dtype. The last two dimensions are a matrix, those before them a
stack of matrices. Arguments of SciPy that save memory or check are taken and not used.
"""

import warnings

from shardax import lax
from shardax import numpy as jnp
from shardax.lax import _linear_solve
from shardax.scipy._decompositions import (
    eigh,
    eigh_tridiagonal,
    hessenberg,
    lu,
    qr,
    qr_multiply,
    schur,
    svd,
)
from shardax.scipy._matrix_functions import (
    expm,
    expm_frechet,
    funm,
    polar,
    rsf2csf,
    solve_sylvester,
    sqrtm,
)
from shardax.scipy._promote import inexact as _inexact
from shardax.scipy._special_matrices import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    dft,
    fiedler,
    fiedler_companion,
    hadamard,
    hankel,
    helmert,
    hilbert,
    invhilbert,
    invpascal,
    leslie,
    pascal,
    toeplitz,
)

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "companion",
    "convolution_matrix",
    "det",
    "dft",
    "eigh",
    "eigh_tridiagonal",
    "expm",
    "expm_frechet",
    "fiedler",
    "fiedler_companion",
    "funm",
    "hadamard",
    "hankel",
    "helmert",
    "hessenberg",
    "hilbert",
    "inv",
    "invhilbert",
    "invpascal",
    "leslie",
    "lu",
    "lu_factor",
    "lu_solve",
    "pascal",
    "polar",
    "qr",
    "qr_multiply",
    "rsf2csf",
    "schur",
    "solve",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "toeplitz",
]


def det(a, overwrite_a=False, check_finite=True):
    """The determinant of (..., n, n).

    `overwrite_a` has no effect: arrays are immutable, and nothing is written over. `check_finite`
    has no effect: values are not known while a program is traced, and NaN gives NaN.

    >>> shardax.scipy.linalg.det(jnp.diag(jnp.array([2.0, 3.0])))
    Array(6., dtype=float32)
    """
    return jnp.linalg.det(a)


def inv(a, overwrite_a=False, check_finite=True):
    """The inverse of (..., n, n).

    `check_finite` has no effect: values are not known while a program is traced, and NaN gives NaN.
    `overwrite_a` has no effect: arrays are immutable, and nothing is written over.

    >>> shardax.scipy.linalg.inv(jnp.array([[4.0]]))
    Array([[0.25]], dtype=float32)
    """
    return jnp.linalg.inv(a)


# ---- equations ----------------------------------------------------------------------------------


def _right_sides(name, a, b):
    """(a, b with columns, whether b held vectors), of one dtype, their stacks repeated."""
    a, b = _inexact(a, b)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"{name}: a must have shape (..., n, n), got {a.shape}.")
    vectors = b.ndim == 1
    if not vectors and a.ndim == b.ndim + 1 and a.shape[-1] == b.shape[-1]:
        warnings.warn(
            f"jax.scipy.linalg.{name}: batched 1D solves with b.ndim > 1 are deprecated, and in "
            f"the future will be treated as a batched 2D solve. Use {name}(..., b[..., None])"
            ".squeeze(-1) to avoid this warning.",
            FutureWarning,
            stacklevel=3,
        )
        vectors = True
    b = b[..., None] if vectors else b
    if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
        raise ValueError(
            f"{name}: input with core dimensions {a.shape[-2:]} and right-hand sides of shape "
            f"{b.shape} do not fit; {a.shape[-1]} rows were expected."
        )
    a, b = _linear_solve.broadcast_stacks(a, b)
    return a, b, vectors


def solve(
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    debug=False,
    check_finite=True,
    assume_a="gen",
):
    """x with a x = b, for (..., n, n) and (..., n, m) or (n,).

    `overwrite_a` and `overwrite_b` have no effect: arrays are immutable, and nothing is written
    over. `check_finite` has no effect: values are not known while a program is traced, and NaN
    gives NaN. `debug` has no effect: one algorithm computes the result, as exactly as the dtype
    allows.

    Args:
      assume_a: "gen", "sym", "her", or "pos" for Hermitian positive definite matrices, of which
        `lower` says which triangle is decomposed, by Cholesky.

    >>> shardax.scipy.linalg.solve(jnp.diag(jnp.array([2.0, 4.0])), jnp.ones(2))
    Array([0.5 , 0.25], dtype=float32)
    """
    kinds = ["gen", "sym", "her", "pos"]
    if assume_a not in kinds:
        raise ValueError(f"Expected assume_a to be one of {kinds}; got {assume_a!r}")
    if assume_a != "pos":
        return jnp.linalg.solve(a, b)
    a, b, vectors = _right_sides("solve", a, b)
    factors = cho_factor(lax.stop_gradient(a), lower)
    x = lax.custom_linear_solve(
        lambda x: _linear_solve.matmul(a, x),
        b,
        lambda _, b: cho_solve(factors, b),
        # The transpose of a Hermitian matrix is its conjugate.
        lambda _, b: jnp.conj(cho_solve(factors, jnp.conj(b))),
    )
    return x[..., 0] if vectors else x


def solve_triangular(
    a,
    b,
    trans=0,
    lower=False,
    unit_diagonal=False,
    overwrite_b=False,
    debug=None,
    check_finite=True,
):
    """x with a x = b, for a triangular (..., n, n).

    `overwrite_b` has no effect: arrays are immutable, and nothing is written over. `check_finite`
    has no effect: values are not known while a program is traced, and NaN gives NaN. `debug` has no
    effect: one algorithm computes the result, as exactly as the dtype allows.

    Args:
      trans: 1 or "T" transposes a first, 2 or "C" conjugates it too.
      unit_diagonal: the diagonal of a counts as ones.

    >>> a = jnp.array([[2.0, 1.0], [0.0, 1.0]])
    >>> shardax.scipy.linalg.solve_triangular(a, jnp.array([3.0, 1.0]))
    Array([1., 1.], dtype=float32)
    """
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"Invalid 'trans' value {trans}")
    a, b, vectors = _right_sides("solve_triangular", a, b)
    x = lax.linalg.triangular_solve(
        a,
        b,
        left_side=True,
        lower=lower,
        transpose_a=trans not in (0, "N"),
        conjugate_a=trans in (2, "C"),
        unit_diagonal=unit_diagonal,
    )
    return x[..., 0] if vectors else x


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The upper triangular U with U* U = a (`lower`: L with L L* = a); that triangle of a alone is
    read.

    `overwrite_a` has no effect: arrays are immutable, and nothing is written over. `check_finite`
    has no effect: values are not known while a program is traced, and NaN gives NaN.

    >>> shardax.scipy.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 1.],
           [0., 1.]], dtype=float32)
    """
    (a,) = _inexact(a)
    low = lax.linalg.cholesky(a if lower else a.mT.conj(), symmetrize_input=False)
    return low if lower else low.mT.conj()


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """(the Cholesky factor of a, `lower`), for `cho_solve`.

    `overwrite_a` has no effect: arrays are immutable, and nothing is written over. `check_finite`
    has no effect: values are not known while a program is traced, and NaN gives NaN.

    >>> shardax.scipy.linalg.cho_factor(jnp.array([[4.0]]))
    (Array([[2.]], dtype=float32), False)
    """
    return cholesky(a, lower), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """x with a x = b, given `cho_factor` of a.

    `check_finite` has no effect: values are not known while a program is traced, and NaN gives NaN.
    `overwrite_b` has no effect: arrays are immutable, and nothing is written over.

    >>> shardax.scipy.linalg.cho_solve((jnp.array([[2.0]]), False), jnp.array([8.0]))
    Array([2.], dtype=float32)
    """
    c, lower = c_and_lower
    c, b, vectors = _right_sides("cho_solve", c, b)

    def solved(b, transpose):
        return lax.linalg.triangular_solve(
            c, b, left_side=True, lower=lower, transpose_a=transpose, conjugate_a=transpose
        )

    x = solved(solved(b, not lower), bool(lower))
    return x[..., 0] if vectors else x


def lu_factor(a, overwrite_a=False, check_finite=True):
    """(L and U in one matrix, swaps of rows) of (..., m, n), for `lu_solve`.

    `check_finite` has no effect: values are not known while a program is traced, and NaN gives NaN.
    `overwrite_a` has no effect: arrays are immutable, and nothing is written over.

    >>> shardax.scipy.linalg.lu_factor(jnp.array([[1.0, 2.0], [2.0, 2.0]]))[1]
    Array([1, 1], dtype=int32)
    """
    factors, pivots, _ = lax.linalg.lu(_inexact(a)[0])
    return factors, pivots


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """x with a x = b, given `lu_factor` of a; trans 1: a^T x = b, 2: a* x = b.

    `check_finite` has no effect: values are not known while a program is traced, and NaN gives NaN.
    `overwrite_b` has no effect: arrays are immutable, and nothing is written over.

    >>> lu_and_piv = shardax.scipy.linalg.lu_factor(jnp.array([[2.0]]))
    >>> shardax.scipy.linalg.lu_solve(lu_and_piv, jnp.array([8.0]))
    Array([4.], dtype=float32)
    """
    if trans not in (0, 1, 2):
        raise ValueError(f"'trans' value must be 0, 1, or 2, got {trans}")
    factors, pivots = lu_and_piv
    factors, b, vectors = _right_sides("lu_solve", factors, b)
    order = lax.linalg.lu_pivots_to_permutation(jnp.asarray(pivots), factors.shape[-1])
    order = jnp.broadcast_to(order, factors.shape[:-1])
    x = _linear_solve.lu_solve(factors, order, b, trans)
    return x[..., 0] if vectors else x
