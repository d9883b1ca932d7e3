# shardax/numpy/_roots.py - roots of polynomials.
import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import asarray, check_arraylike, known
from shardax.lax._reductions import sort_key_val
from shardax.numpy import linalg
from shardax.numpy._linear_algebra import matrices as _matrices
from shardax.numpy._reductions import extremes as _extremes
from shardax.numpy._reductions import reductions as _reductions
from shardax.numpy._shaping import rearrange as _rearrange
from shardax.numpy._shaping import shape as _shape


def roots(p, *, strip_zeros=True):
    """The roots of a polynomial: the eigenvalues of its companion matrix.

    Args:
      p: a vector of N + 1 coefficients, highest power first.
      strip_zeros: leading zeros are left out, so that there are fewer roots. If it is False, p may
        be traced, and missing roots are NaN.

    Returns:
      A vector of N complex numbers.

    Raises:
      ValueError: `p` is not a vector.

    Source: Edelman, Murakami, "Polynomial roots from companion matrix eigenvalues", 1995.

    Example:
      >>> jnp.roots(jnp.array([1.0, -3.0, 2.0]))
      Array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    check_arraylike("roots", p)
    p = _shape.atleast_1d(_core.promote("inexact", p)[0])
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    if p.size < 2:
        return _of(p)
    zero = p == 0
    leading = where(_reductions.all(zero), np.int32(p.size), _extremes.argmin(zero))
    if strip_zeros:
        leading = known(
            leading,
            "The error occurred in the jnp.roots() function. To use this within a JIT-compiled "
            "context, pass strip_zeros=False, but be aware that leading zeros will result in some "
            "returned roots being set to NaN.",
        )
        return _of(p[int(leading) :])
    p = where(leading == p.size, p.dtype.type(1), p)
    found = _of(_rearrange.roll(p, -leading))
    found = sort_key_val(found == 0, found)[1]
    missing = np.arange(found.size) >= found.size - leading
    return where(missing, found.dtype.type(complex(np.nan, np.nan)), found)


def _of(p):
    if p.size < 2:
        return asarray([], _core.result_type(p, np.complex64)[0])
    companion = _matrices.eye(p.size - 1, k=-1, dtype=p.dtype)
    return linalg.eigvals(companion.at[0].set(-p[1:] / p[0]))
