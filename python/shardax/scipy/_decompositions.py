"""shardax/scipy/_decompositions.py - decompositions under SciPy's names."""

from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import in_one_program
from shardax.lax import _linear_solve
from shardax.lax._eigen import hermitian_eigenvalues
from shardax.scipy._matrix_functions import _complex
from shardax.scipy._promote import inexact

__all__ = [
    "eigh",
    "eigh_tridiagonal",
    "hessenberg",
    "lu",
    "qr",
    "qr_multiply",
    "schur",
    "svd",
]


@in_one_program("permute_l", "overwrite_a", "check_finite")
def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """(p, l, u) with p l u = a, for (..., m, n); `permute_l`: (p l, u). p is a permutation matrix,
    l has a diagonal of ones, u is upper triangular.

    `overwrite_a` has no effect: arrays are immutable, and nothing is written over. `check_finite`
    has no effect: values are not known while a program is traced, and NaN gives NaN.

    >>> p, l, u = shardax.scipy.linalg.lu(jnp.array([[1.0, 2.0], [2.0, 2.0]]))
    >>> u
    Array([[2., 2.],
           [0., 1.]], dtype=float32)
    """
    (a,) = inexact(a)
    factors, _, order = lax.linalg.lu(a)
    m, n = a.shape[-2:]
    k = min(m, n)
    real = a.real.dtype
    p = (order[..., None, :] == jnp.arange(m, dtype=order.dtype)[:, None]).astype(real)
    low = jnp.tril(factors, -1)[..., :k] + jnp.eye(m, k, dtype=a.dtype)
    up = jnp.triu(factors)[..., :k, :]
    return (jnp.matmul(p.astype(a.dtype), low), up) if permute_l else (p, low, up)


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """(q, r) with q r = a.

    `check_finite` has no effect: values are not known while a program is traced, and NaN gives NaN.
    `overwrite_a` has no effect: arrays are immutable, and nothing is written over. `lwork` has no
    effect: one algorithm computes the result, as exactly as the dtype allows.

    Args:
      mode: "full"; "economic" for q with as many columns as r has rows; "r" for (r,).
      pivoting: (q, r, order) with q r = a[:, order], in which r's diagonal does not grow.

    >>> shardax.scipy.linalg.qr(jnp.ones((3, 2)), mode="economic")[0].shape
    (3, 2)
    """
    if mode not in ("full", "r", "economic"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    (a,) = inexact(a)
    out = lax.linalg.qr(a, pivoting=pivoting, full_matrices=mode != "economic")
    return out[1:] if mode == "r" else out


def qr_multiply(
    a,
    c,
    mode="right",
    pivoting=False,
    conjugate=False,
    overwrite_a=False,
    overwrite_c=False,
):
    """(c q, r) ("right") or (q c, r) ("left") of the economic decomposition q r = a, without making
    q.

    `overwrite_a` and `overwrite_c` have no effect: arrays are immutable, and nothing is written
    over.

    Args:
      a: (..., m, n).
      c: (..., k, m) on the right, (..., min(m, n), k) on the left; or a vector.
      pivoting: also gives the order of a's columns.
      conjugate: with conj(q).

    >>> shardax.scipy.linalg.qr_multiply(jnp.ones((3, 2)), jnp.ones(3))[0].shape
    (2,)
    """
    if mode not in ("right", "left"):
        raise ValueError(f"mode must be 'right' or 'left', got {mode!r}")
    a, c = inexact(a, c)
    vector = c.ndim == 1
    if vector:
        c = c[:, None] if mode == "left" else c[None, :]
    m, n = a.shape[-2:]
    k = min(m, n)
    if mode == "left" and c.shape[-2] != k:
        raise ValueError(
            f"Array shapes are not compatible for Q @ c operation: a has shape {a.shape} so Q has "
            f"{k} columns, but c has {c.shape[-2]} rows (expected {k})."
        )
    if mode == "right" and c.shape[-1] != m:
        raise ValueError(
            f"Array shapes are not compatible for c @ Q operation: a has shape {a.shape} so Q has "
            f"{m} rows, but c has {c.shape[-1]} columns (expected {m})."
        )
    a, c = _linear_solve.broadcast_stacks(a, c)
    order = ()
    if pivoting:
        reflectors, columns, taus = lax.linalg.geqp3(a, jnp.zeros((*a.shape[:-2], n), jnp.int32))
        order = (columns - 1,)
    else:
        reflectors, taus = lax.linalg.geqrf(a)
    if mode == "left" and m > n:
        c = jnp.concatenate([c, jnp.zeros((*c.shape[:-2], m - k, c.shape[-1]), c.dtype)], axis=-2)
    left = (mode == "left") != conjugate
    c = c.mT if conjugate else c
    out = lax.linalg.ormqr(reflectors, taus, c, left=left, transpose=conjugate)
    out = out.mT if conjugate else out
    out = out[..., :k] if mode == "right" else out
    return (out.ravel() if vector else out, jnp.triu(reflectors[..., :k, :]), *order)


def svd(
    a,
    full_matrices=True,
    compute_uv=True,
    overwrite_a=False,
    check_finite=True,
    lapack_driver="gesdd",
):
    """(u, s, v*) with u diag(s) v* = a and s descending; compute_uv=False: s alone.

    `overwrite_a` has no effect: arrays are immutable, and nothing is written over. `check_finite`
    has no effect: values are not known while a program is traced, and NaN gives NaN.
    `lapack_driver` has no effect: one algorithm computes the result, as exactly as the dtype
    allows.

    >>> shardax.scipy.linalg.svd(jnp.diag(jnp.array([1.0, 2.0])), compute_uv=False)
    Array([2., 1.], dtype=float32)
    """
    return lax.linalg.svd(inexact(a)[0], full_matrices=full_matrices, compute_uv=compute_uv)


def eigh(
    a,
    b=None,
    lower=True,
    eigvals_only=False,
    overwrite_a=False,
    overwrite_b=False,
    turbo=True,
    eigvals=None,
    type=1,
    check_finite=True,
):
    """(eigenvalues ascending, eigenvectors in columns) of Hermitian (..., n, n).

    `overwrite_a` and `overwrite_b` have no effect: arrays are immutable, and nothing is written
    over. `turbo` has no effect: one algorithm computes the result, as exactly as the dtype allows.
    `check_finite` has no effect: values are not known while a program is traced, and NaN gives NaN.

    Raises:
      NotImplementedError: b or eigvals is given, or type is not 1.

    >>> shardax.scipy.linalg.eigh(jnp.diag(jnp.array([2.0, 1.0])), eigvals_only=True)
    Array([1., 2.], dtype=float32)
    """
    if b is not None:
        raise NotImplementedError("Only the b=None case of eigh is implemented")
    if type != 1:
        raise NotImplementedError("Only the type=1 case of eigh is implemented.")
    if eigvals is not None:
        raise NotImplementedError("Only the eigvals=None case of eigh is implemented.")
    (a,) = inexact(a)
    if eigvals_only:
        return hermitian_eigenvalues(a, lower)
    v, w = lax.linalg.eigh(a, lower=lower)
    return w, v


def eigh_tridiagonal(
    d, e, *, eigvals_only=False, select="a", select_range=None, tol=None, key=None
):
    """(eigenvalues ascending, eigenvectors in columns) of the Hermitian matrix with the diagonal
    `d` (n,) and `e` (n - 1,) above it; eigvals_only: the eigenvalues.

    Args:
      select: "a" for all, "i" for those whose places are select_range, both ends among them.
      tol, key: not used; eigenvalues are exact to rounding.

    Raises:
      TypeError: d and e have different dtypes, or are not of 32 or 64 bits.
      NotImplementedError: select is "v".

    >>> shardax.scipy.linalg.eigh_tridiagonal(jnp.zeros(2), jnp.ones(1), eigvals_only=True).round(3)
    Array([-1.,  1.], dtype=float32)
    """
    d, e = jnp.asarray(d), jnp.asarray(e)
    if d.dtype != e.dtype:
        raise TypeError(
            f"diagonal and off-diagonal values must have same dtype, got {d.dtype} and {e.dtype}"
        )
    if d.dtype not in (jnp.float32, jnp.float64, jnp.complex64, jnp.complex128):
        raise TypeError(
            "Only float32 and float64 inputs are supported as inputs to "
            f"jax.scipy.linalg.eigh_tridiagonal, got {d.dtype} and {e.dtype}"
        )
    if select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    if select == "v":
        raise NotImplementedError("eigh_tridiagonal(..., select='v') is not implemented")
    chosen = slice(None)
    if select == "i":
        if select_range is None:
            raise ValueError("for select='i', select_range must be specified.")
        if select_range[0] > select_range[1]:
            raise ValueError("Got empty index range in select_range.")
        chosen = slice(select_range[0], select_range[1] + 1)
    if d.shape[0] == 0:
        return d.real if eigvals_only else (d.real, jnp.eye(0, dtype=d.dtype))
    # Both triangles, as the derivative rule of eigh looks at both.
    matrix = jnp.diag(d.real.astype(d.dtype)) + jnp.diag(e.conj(), -1) + jnp.diag(e, 1)
    if eigvals_only:
        return hermitian_eigenvalues(matrix, symmetrize_input=False)[chosen]
    v, w = lax.linalg.eigh(matrix, symmetrize_input=False)
    return w[chosen], v[:, chosen]


def schur(a, output="real"):
    """[T, Z] with Z T Z* = a. T is upper triangular, for real a and output "real" with blocks of
    size 2 for pairs of eigenvalues. "complex": complex and triangular.

    >>> shardax.scipy.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]))[0]
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    if output not in ("real", "complex"):
        raise ValueError(f"Expected 'output' to be either 'real' or 'complex', got {output=}.")
    (a,) = inexact(a)
    return lax.linalg.schur(_complex(a) if output == "complex" else a)


def hessenberg(a, *, calc_q=False, overwrite_a=False, check_finite=True):
    """h, upper triangular but for one diagonal below, with q h q* = a; `calc_q`: (h, q).

    `overwrite_a` has no effect: arrays are immutable, and nothing is written over. `check_finite`
    has no effect: values are not known while a program is traced, and NaN gives NaN.

    >>> h, q = shardax.scipy.linalg.hessenberg(jnp.ones((3, 3)), calc_q=True)
    >>> (q @ h @ q.T).round(3)
    Array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    (a,) = inexact(a)
    if a.shape[-1] == 0:
        return (jnp.zeros_like(a), jnp.zeros_like(a)) if calc_q else jnp.zeros_like(a)
    reflectors, taus = lax.linalg.hessenberg(a)
    h = jnp.triu(reflectors, -1)
    if not calc_q:
        return h
    inner = lax.linalg.householder_product(reflectors[..., 1:, :-1], taus)
    q = jnp.pad(inner, [(0, 0)] * (a.ndim - 2) + [(1, 0), (1, 0)])
    return h, q.at[..., 0, 0].set(1)
