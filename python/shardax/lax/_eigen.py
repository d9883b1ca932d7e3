"""shardax/lax/_eigen.py - eigenvalues and singular values of stacks of matrices, as ops."""

import enum
import warnings

from shardax._base.arrays import asarray, bind, static_jit
from shardax.lax._linear_solve import symmetrized

__all__ = [
    "EigImplementation",
    "EighImplementation",
    "SvdAlgorithm",
    "eig",
    "eigh",
    "hessenberg",
    "schur",
    "svd",
    "tridiagonal",
]


class SvdAlgorithm(enum.Enum):
    """The algorithms of svd: DEFAULT is DIVIDE_AND_CONQUER (gesdd), QR is gesvd.

    Example:
      >>> lax.linalg.SvdAlgorithm.QR.value
      'QR'
    """

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


class EighImplementation(enum.Enum):
    """The implementations of eigh: QR, which stands for LAPACK's divide and conquer here.

    Example:
      >>> lax.linalg.EighImplementation.QR.value
      'qr'
    """

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class EigImplementation(enum.Enum):
    """The implementations of eig: LAPACK.

    Example:
      >>> lax.linalg.EigImplementation.LAPACK.value
      'lapack'
    """

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


def eig(
    x,
    *,
    compute_left_eigenvectors=True,
    compute_right_eigenvectors=True,
    enable_eigvec_derivs=False,
    implementation=None,
    use_magma=None,
):
    """[eigenvalues, left eigenvectors, right eigenvectors] of (..., n, n), all complex; the vectors
    stand in columns, and are there where asked for. NaN where x is not finite.

    Args:
      enable_eigvec_derivs: vectors have derivatives, too, which hold where all eigenvalues differ
        and no vector has two largest components.
      implementation, use_magma: LAPACK always computes.

    Example:
      >>> w, v = lax.linalg.eig(jnp.diag(jnp.array([1.0, 2.0])), compute_left_eigenvectors=False)
      >>> w
      Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    if use_magma is not None:
        warnings.warn(
            "use_magma is deprecated, please use implementation=EigImplementation.MAGMA instead.",
            DeprecationWarning,
            stacklevel=2,
        )
    out = bind(
        "eig",
        (asarray(x),),
        compute_left_eigenvectors=bool(compute_left_eigenvectors),
        compute_right_eigenvectors=bool(compute_right_eigenvectors),
        enable_eigvec_derivs=bool(enable_eigvec_derivs),
        implementation=_name(implementation),
    )
    return list(out) if compute_left_eigenvectors or compute_right_eigenvectors else [out]


def _name(choice):
    """An algorithm as a parameter of an op: its name."""
    return choice.value if isinstance(choice, enum.Enum) else choice


def _range(subset):
    return None if subset is None else tuple(int(i) for i in subset)


@static_jit("lower", "symmetrize_input", "sort_eigenvalues", "subset_by_index", "implementation")
def eigh(
    x,
    *,
    lower=True,
    symmetrize_input=True,
    sort_eigenvalues=True,
    subset_by_index=None,
    implementation=None,
):
    """(eigenvectors in columns, eigenvalues ascending) of Hermitian (..., n, n); NaN where x is not
    finite.

    Args:
      lower: which triangle is read where `symmetrize_input` is false.
      symmetrize_input: x is replaced by (x + x*) / 2.
      sort_eigenvalues: they are always sorted.
      subset_by_index: None or (0, n).
      implementation: None or EighImplementation.QR.

    Raises:
      NotImplementedError: another subset or implementation.

    Example:
      >>> lax.linalg.eigh(jnp.diag(jnp.array([2.0, 1.0])))[1]
      Array([1., 2.], dtype=float32)
    """
    if implementation is EighImplementation.QDWH:
        raise NotImplementedError("QDWH implementation is only supported on TPU")
    if implementation is EighImplementation.JACOBI:
        raise NotImplementedError("Jacobi implementation is not supported on CPU")
    x = asarray(x)
    return tuple(
        bind(
            "eigh",
            (symmetrized(x) if symmetrize_input else x,),
            lower=bool(lower),
            sort_eigenvalues=bool(sort_eigenvalues),
            subset_by_index=_range(subset_by_index),
            algorithm=_name(implementation),
        )
    )


def hermitian_eigenvalues(x, lower=True, symmetrize_input=True):
    """The eigenvalues of Hermitian (..., n, n), ascending, in a third of the time of eigh."""
    return bind(
        "eigh",
        (symmetrized(x) if symmetrize_input else x,),
        lower=bool(lower),
        sort_eigenvalues=True,
        subset_by_index=None,
        algorithm=None,
        compute_eigenvectors=False,
    )


def hessenberg(a):
    """[a, taus]: (..., n, n) in upper Hessenberg form, below it the reflectors that make it, and
    their factors (..., n - 1).

    Example:
      >>> a, taus = lax.linalg.hessenberg(jnp.ones((3, 3)))
      >>> a.shape, taus.shape
      ((3, 3), (2,))
    """
    return list(bind("hessenberg", (asarray(a),)))


def schur(x, *, compute_schur_vectors=True, sort_eig_vals=False, select_callable=None):
    """[T, Q] with Q T Q* = x, for (..., n, n); [T] alone if the vectors are not wanted. T is upper
    triangular, of real x with blocks of size 2 for pairs of eigenvalues. NaN where x is not finite.

    Raises:
      NotImplementedError: eigenvalues are to be sorted, by `sort_eig_vals` or `select_callable`.

    Example:
      >>> lax.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]))[0]
      Array([[1., 2.],
             [0., 3.]], dtype=float32)
    """
    if sort_eig_vals or select_callable is not None:
        raise NotImplementedError("The sort feature of LAPACK's gees routine is not implemented.")
    out = bind(
        "schur",
        (asarray(x),),
        compute_schur_vectors=bool(compute_schur_vectors),
        sort_eig_vals=False,
        select_callable=None,
    )
    return list(out) if compute_schur_vectors else [out]


def svd(x, *, full_matrices=True, compute_uv=True, subset_by_index=None, algorithm=None):
    """(u, s, v*) with u diag(s) v* = x and s descending; compute_uv=False: s alone. NaN where x is
    not finite.

    Args:
      subset_by_index: None or (0, min(m, n)).
      algorithm: an SvdAlgorithm.

    Raises:
      NotImplementedError: another subset, or an algorithm that LAPACK does not have.

    Example:
      >>> lax.linalg.svd(jnp.diag(jnp.array([1.0, 2.0])), compute_uv=False)
      Array([2., 1.], dtype=float32)
    """
    if algorithm in (SvdAlgorithm.JACOBI, SvdAlgorithm.POLAR):
        raise NotImplementedError("The SVD Jacobi and Polar algorithms are not implemented on CPU.")
    out = bind(
        "svd",
        (asarray(x),),
        full_matrices=bool(full_matrices),
        compute_uv=bool(compute_uv),
        subset_by_index=_range(subset_by_index),
        algorithm=_name(algorithm),
    )
    return (out[1], out[0], out[2]) if compute_uv else out


def tridiagonal(a, *, lower=True):
    """[a, d, e, taus]: Hermitian (..., n, n), of which one triangle is read, in tridiagonal form. a
    has the reflectors that make it, d is the diagonal (..., n), e the off-diagonal (..., n - 1),
    both real, taus are the reflectors' factors.

    Example:
      >>> lax.linalg.tridiagonal(jnp.eye(3))[1]
      Array([1., 1., 1.], dtype=float32)
    """
    return list(bind("tridiagonal", (asarray(a),), lower=bool(lower)))
