"""shardax/numpy/_reductions/covariances.py - covariances and correlations of variables."""

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import concatenate
from shardax._base.arrays import (
    asarray,
    check_arraylike,
    in_one_program,
)
from shardax.numpy._linear_algebra import matrices as _matrices
from shardax.numpy._linear_algebra import products as _products
from shardax.numpy._shaping import shape as _shape

_functions = _core.functions


def _variables(m, rowvar):
    """A matrix with a row per variable."""
    x = asarray(m)
    if x.ndim > 2:
        raise ValueError(f"cov: m and y have at most 2 dimensions, got {x.ndim}.")
    return x.T if not rowvar and x.ndim == 2 else _shape.atleast_2d(x)


def _cov_weights(fweights, aweights, count):
    """The products of the two kinds of weights, or None; each must be a vector of that length."""
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        check_arraylike("cov", given)
        given = asarray(given)
        if given.ndim != 1:
            raise ValueError(f"cannot handle multidimensional {name}; got shape {given.shape}.")
        if given.shape[0] != count:
            raise ValueError(
                f"incompatible numbers of samples and {name}: {count} and {given.shape[0]}."
            )
        if name == "fweights" and given.dtype.kind not in "iu":
            raise TypeError(f"fweights must be integer, got {given.dtype}.")
        weights = given if weights is None else weights * given
    return weights


def _check_inexact(name, dtype):
    if dtype is not None and np.dtype(_core.dtype_of(dtype)).kind in "biu":
        raise ValueError(f"{name}: dtype must be a subclass of float or complex; got {dtype}.")


@in_one_program("rowvar", "bias", "ddof", "dtype")
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    """The covariance matrix of variables in rows.

    Args:
      m: a vector, or a matrix with a row per variable (a column unless `rowvar`).
      y: further variables, in the same form.
      rowvar: whether rows are variables and columns observations.
      bias: divides by n instead of n - 1.
      ddof: divides by n - ddof, whatever `bias` says.
      fweights: integers: how often each observation was made.
      aweights: numbers: how much each observation counts.
      dtype: of the computation and the result.

    Returns:
      A matrix with a row and a column per variable; a scalar for one variable.

    Raises:
      ValueError: shapes do not fit, or `dtype` is no float or complex.
      TypeError: `fweights` are no integers.

    Example:
      >>> jnp.cov(jnp.array([[0.0, 1, 2], [2, 1, 0]]))
      Array([[ 1., -1.],
             [-1.,  1.]], dtype=float32)
    """
    check_arraylike("cov", m, *([] if y is None else [y]))
    _check_inexact("cov", dtype)
    x = _variables(m, rowvar)
    if y is not None:
        x = concatenate([x, _variables(y, rowvar)], 0)
    x = _core.promote("inexact", x)[0] if dtype is None else x.astype(dtype)
    if x.shape[0] == 0:
        return _core.full((0, 0), 0, _core.canonical_dtype(float))
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = _cov_weights(fweights, aweights, x.shape[1])
    if weights is None:
        centered = x - x.mean(1, keepdims=True)
        weighted, divisor = centered, max(x.shape[1] - ddof, 0)
    else:
        total = weights.sum()
        centered = x - (x * weights).sum(1, keepdims=True) / total
        weighted = centered * weights
        spent = 0 if ddof == 0 else ddof
        if aweights is not None:
            spent = spent * (weights * asarray(aweights)).sum() / total
        divisor = _functions.maximum(total - spent, 0)
    out = _products.dot(weighted, centered.T.conj()) / divisor
    return _shape.squeeze(out).astype(x.dtype)


@in_one_program("rowvar", "dtype")
def corrcoef(x, y=None, rowvar=True, dtype=None):
    """The matrix of correlation coefficients (Pearson's) of variables in rows.

    Args:
      x, y, rowvar, dtype: as in `jnp.cov`.

    Returns:
      A matrix with a row and a column per variable, ones on its diagonal.

    Example:
      >>> jnp.corrcoef(jnp.array([[0.0, 1, 2], [2, 1, 0]]))
      Array([[ 1., -1.],
             [-1.,  1.]], dtype=float32)
    """
    _check_inexact("corrcoef", dtype)
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    d = _functions.sqrt(_matrices.diag(c))
    return c / d[:, None] / d[None, :]
