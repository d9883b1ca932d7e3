"""tests/ops/sample_matrices.py - samples of decompositions."""

import matrix_references as ref
import numpy as np
from sample_kinds import COMPLEX, Arg, Sample

ALL = ("float32", "float64", *COMPLEX)
SQUARE = (Arg((2, 3, 3), (-1, 1)),)
NOT_DERIVED = "Differentiation rule for '{}' not implemented"


def _of(shape):
    return (Arg((2, *shape), (-1, 1)),)


def _eigh(sx, a):
    v, w = sx.lax.linalg.eigh(ref.apart(a), symmetrize_input=False)
    return ref.projections(v), w


def _svd(sx, a):
    u, s, vh = sx.lax.linalg.svd(ref.spread(a), full_matrices=False)
    return s, ref.terms(u, vh)


def _eig(sx, a):
    w, v = sx.lax.linalg.eig(
        ref.spread(a), compute_left_eigenvectors=False, enable_eigvec_derivs=True
    )
    order = sx.numpy.argsort(w.real, axis=-1)
    v = sx.numpy.take_along_axis(v, order[..., None, :], -1)
    return sx.numpy.take_along_axis(w, order, -1), ref.projections(v)


def _left(sx, a):
    w, v = sx.lax.linalg.eig(
        ref.spread(a), compute_right_eigenvectors=False, enable_eigvec_derivs=True
    )
    order = sx.numpy.argsort(w.real, axis=-1)
    return ref.projections(sx.numpy.take_along_axis(v, order[..., None, :], -1))


def _schur(sx, a):
    """The unique parts: the product, and the form, which is triangular but for one diagonal."""
    t, q = sx.lax.linalg.schur(a)
    return q @ t @ ref.adjoint(q), q @ ref.adjoint(q), sx.numpy.tril(t, -2)


def _triangular_root(sx, a):
    u = sx._core.bind("triangular_root", (sx.numpy.triu(ref.spread(a)),))
    return u @ u, sx.numpy.tril(u, -1)


def _upper(n):
    """A triangle in which diagonals stay away from 0."""
    return (Arg((2, n, n), (1, 2)), Arg((2, n), (-1, 1)))


def _underived(name, reference, args, **rest):
    return Sample(
        reference,
        args,
        grad=(),
        refuses_jvp=NOT_DERIVED.format(name),
        tolerance=256,
        **{"dtypes": ALL, **rest},
    )


def _qr(shape, pivoting, full):
    params = {"pivoting": pivoting, "full_matrices": full, "use_magma": None}
    # Of a wide or tall complex matrix second differences need more digits than float64 has.
    return Sample(ref.qr, _of(shape), params, ALL, tolerance=512)


def _ormqr(left, transpose):
    return Sample(
        ref.ormqr,
        (*_of((4, 3)), Arg((2, 3), (1, 1.5)), *_of((4, 4))),
        {"left": left, "transpose": transpose},
        ALL,
        grad=(2,),
        tolerance=256,
    )


def _determinant(sx, a):
    diagonal, pivots = sx._base.arrays.bind("lu_diagonal", (a,))
    odd = (pivots != np.arange(a.shape[-1])).sum(-1) % 2 == 1
    return diagonal.prod(-1) * sx.numpy.where(odd, -1, 1).astype(a.dtype)


DIAGONALS = (Arg((2, 4), (-1, 1)), Arg((2, 4), (3, 4)), Arg((2, 4), (-1, 1)))
MARKS = Arg((2, 4), dtype="int32", values=0)

MATRICES = {
    "cholesky_update": Sample(
        ref.cholesky_update,
        _upper(3),
        dtypes=("float32", "float64"),
        call=lambda sx, r, w: sx.lax.linalg.cholesky_update(sx.numpy.triu(r), w),
        tolerance=256,
    ),
    "eigh": (
        Sample(ref.eigh, SQUARE, dtypes=ALL, call=_eigh, tolerance=256),
        Sample(
            lambda a: np.linalg.eigvalsh(ref.apart(a)),
            SQUARE,
            dtypes=ALL,
            call=lambda sx, a: sx.numpy.linalg.eigvalsh(ref.apart(a)),
            tolerance=256,
        ),
    ),
    "eig": (
        Sample(ref.eig, SQUARE, dtypes=ALL, call=_eig, tolerance=1024),
        Sample(
            lambda a: ref.eig(ref.adjoint(a))[1], SQUARE, dtypes=ALL, call=_left, tolerance=1024
        ),
        Sample(
            lambda a: np.sort(np.linalg.eigvals(ref.spread(a))) + 0j,
            SQUARE,
            dtypes=ALL,
            call=lambda sx, a: sx.numpy.sort(sx.numpy.linalg.eigvals(ref.spread(a))),
            tolerance=256,
        ),
    ),
    "svd": tuple(
        Sample(ref.svd, _of(shape), dtypes=ALL, call=_svd, tolerance=256)
        for shape in ((3, 3), (4, 2), (2, 4))
    )
    + (
        Sample(
            lambda a: np.linalg.svd(ref.spread(a), compute_uv=False),
            _of((3, 2)),
            dtypes=ALL,
            call=lambda sx, a: sx.numpy.linalg.svdvals(ref.spread(a)),
            tolerance=256,
        ),
    ),
    "qr": (
        _qr((3, 3), False, True),
        _qr((4, 2), False, False),
        _qr((4, 2), False, True),
        _qr((2, 4), False, True),
        _qr((4, 3), True, True),
        _qr((2, 3), True, False),
    ),
    "lu": tuple(
        Sample(ref.lu, _of(shape), dtypes=ALL, tolerance=256) for shape in ((3, 3), (4, 2), (2, 4))
    ),
    "lu_diagonal": Sample(
        lambda a: np.linalg.det(a),
        SQUARE,
        dtypes=ALL,
        call=_determinant,
        grad=(),
        refuses_jvp=NOT_DERIVED.format("lu_diagonal"),
        tolerance=256,
    ),
    "lu_pivots_to_permutation": Sample(
        lambda p, permutation_size: np.array([[2, 0, 1, 3], [3, 1, 2, 0]], np.int32),
        (Arg((2, 2), dtype="int32", values=((2, 2), (3, 1))),),
        {"permutation_size": 4},
        ("int32",),
        grad=(),
    ),
    "geqrf": _underived("geqrf", ref.geqrf, _of((4, 3))),
    "geqp3": _underived("geqp3", ref.geqp3, (*_of((3, 4)), MARKS)),
    "householder_product": _underived(
        "householder_product",
        ref.householder_product,
        (*_of((4, 3)), Arg((2, 2), (1, 1.5))),
    ),
    "ormqr": tuple(_ormqr(left, t) for left in (True, False) for t in (True, False)),
    "hessenberg": _underived("hessenberg", ref.hessenberg, _of((4, 4))),
    "tridiagonal": _underived(
        "tridiagonal",
        lambda a: ref.tridiagonal(ref.apart(a)),
        _of((4, 4)),
        call=lambda sx, a: sx.lax.linalg.tridiagonal(ref.apart(a)),
    ),
    "schur": _underived(
        "schur",
        lambda a: (a, np.broadcast_to(np.eye(4), a.shape) + 0 * a, 0 * a),
        _of((4, 4)),
        call=_schur,
    ),
    "triangular_root": _underived(
        "triangular_root",
        lambda a: (np.triu(ref.spread(a)), 0 * a),
        _of((4, 4)),
        call=_triangular_root,
    ),
    "tridiagonal_solve": tuple(
        Sample(
            ref.tridiagonal_solve,
            (*DIAGONALS, *_of((4, 2))),
            {"perturb_singular": perturb},
            ALL,
            tolerance=64,
        )
        for perturb in (False, True)
    ),
}
