"""tests/ops/matrix_references.py - decompositions for reference, of stacks of matrices, in NumPy.

Factors that are unique only up to phases are compared by invariants: `projections` of eigenvectors,
`terms` of a singular value decomposition.
"""

import numpy as np


def stacked(function):
    """`function` of matrices and vectors, over one leading dimension of its operands."""

    def run(*operands, **params):
        out = [function(*parts, **params) for parts in zip(*operands, strict=True)]
        if isinstance(out[0], tuple):
            return tuple(np.stack(part) for part in zip(*out, strict=True))
        return np.stack(out)

    return run


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


def apart(a):
    """A Hermitian matrix whose eigenvalues lie apart, for arrays of NumPy and of the package."""
    n = a.shape[-1]
    return a + a.conj().swapaxes(-1, -2) + np.diag(np.arange(n) * 5).astype(a.dtype)


def spread(a):
    """A matrix whose singular values, and eigenvalues, lie apart."""
    m, n = a.shape[-2:]
    return a + (np.eye(m, n) * (3 + 4 * np.arange(n))).astype(a.dtype)


def projections(v):
    """(..., n, n, k) of v_k v_k*, for vectors in columns."""
    return v[..., :, None, :] * v[..., None, :, :].conj()


def terms(u, vh):
    """(..., m, k, n) of u_k v_k*."""
    return u[..., :, :, None] * vh[..., None, :, :]


def eigh(a):
    w, v = np.linalg.eigh(apart(a))
    return projections(v), w


def svd(a):
    u, s, vh = np.linalg.svd(spread(a), full_matrices=False)
    return s, terms(u, vh)


def eig(a):
    """Eigenvalues in the order of their real parts, and the projections beside each other."""
    w, v = np.linalg.eig(spread(a))
    order = np.argsort(w.real, axis=-1)
    v = np.take_along_axis(v, order[..., None, :], -1)
    return np.take_along_axis(w, order, -1) + 0j, projections(v) + 0j


@stacked
def lu(a):
    a, m, n = a.copy(), *a.shape
    pivots, order = np.zeros(min(m, n), np.int32), np.arange(m, dtype=np.int32)
    for k in range(min(m, n)):
        # LAPACK's size of a complex number is the sum of its parts' sizes.
        p = k + np.argmax(np.abs(a[k:, k].real) + np.abs(a[k:, k].imag))
        pivots[k] = p
        a[[k, p]], order[[k, p]] = a[[p, k]], order[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, pivots, order


def reflector(x):
    """(v, tau, beta): (1 - conj(tau) v v*) x = beta e_0 with v[0] = 1 and real beta, as LAPACK's
    larfg."""
    head, rest = x[0], np.linalg.norm(x[1:])
    if rest == 0 and np.imag(head) == 0:
        return np.eye(1, len(x), dtype=x.dtype)[0], x.dtype.type(0), head
    beta = -np.copysign(np.hypot(abs(head), rest), np.real(head))
    v = x / (head - beta)
    v[0] = 1
    return v, (beta - head) / beta, x.dtype.type(beta)


@stacked
def geqrf(a):
    a, m, n = a.copy(), *a.shape
    taus = np.zeros(min(m, n), a.dtype)
    for k in range(min(m, n)):
        v, taus[k], _ = reflector(a[k:, k])
        a[k:, k:] -= np.conj(taus[k]) * np.outer(v, v.conj() @ a[k:, k:])
        a[k + 1 :, k] = v[1:]
    return a, taus


@stacked
def geqp3(a, marks):
    a, m, n = a.copy(), *a.shape
    order, taus = np.arange(n), np.zeros(min(m, n), a.dtype)
    for k in range(min(m, n)):
        p = k + np.argmax(np.linalg.norm(a[k:, k:], axis=0))
        a[:, [k, p]], order[[k, p]] = a[:, [p, k]], order[[p, k]]
        v, taus[k], _ = reflector(a[k:, k])
        a[k:, k:] -= np.conj(taus[k]) * np.outer(v, v.conj() @ a[k:, k:])
        a[k + 1 :, k] = v[1:]
    return a, (order + 1).astype(np.int32), taus


@stacked
def orthogonal(a, taus):
    """The product of all reflectors, (m, m)."""
    m = len(a)
    q = np.eye(m, dtype=a.dtype)
    for k, tau in enumerate(taus):
        v = np.concatenate([np.zeros(k), [1], a[k + 1 :, k]])
        q = q @ (np.eye(m) - tau * np.outer(v, v.conj()))
    return q


def householder_product(a, taus):
    return orthogonal(a, taus)[..., : a.shape[-1]]


def ormqr(a, taus, c, left, transpose):
    q = orthogonal(a, taus)
    q = adjoint(q) if transpose else q
    return q @ c if left else c @ q


def qr(a, pivoting, full_matrices, use_magma):
    marks = np.zeros(a.shape[:-2] + a.shape[-1:], np.int32)
    h, *order, taus = geqp3(a, marks) if pivoting else geqrf(a)
    columns = a.shape[-2] if full_matrices else min(a.shape[-2:])
    q = orthogonal(h, taus)[..., :columns]
    return (q, np.triu(h)[..., :columns, :], *(o - 1 for o in order))


@stacked
def hessenberg(a):
    a, n = a.copy(), len(a)
    taus = np.zeros(n - 1, a.dtype)
    for k in range(n - 1):
        v, tau, _ = reflector(a[k + 1 :, k])
        taus[k] = tau
        a[k + 1 :, k:] -= np.conj(tau) * np.outer(v, v.conj() @ a[k + 1 :, k:])
        a[:, k + 1 :] -= tau * np.outer(a[:, k + 1 :] @ v, v.conj())
        a[k + 2 :, k] = v[1:]
    return a, taus


@stacked
def tridiagonal(a):
    """Of the lower triangle; the upper one of the result stays as it is."""
    h, taus = (part[0] for part in hessenberg(a[None]))
    d, e = np.diag(h).real, np.diag(h, -1).real
    return np.tril(h) + np.triu(a, 1), d, e, taus


@stacked
def tridiagonal_solve(dl, d, du, b, perturb_singular):
    return np.linalg.solve(np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1), b)


def cholesky_update(r, w):
    r = np.triu(r)
    updated = r.swapaxes(-1, -2) @ r + w[..., :, None] * w[..., None, :]
    return np.linalg.cholesky(updated).swapaxes(-1, -2)
