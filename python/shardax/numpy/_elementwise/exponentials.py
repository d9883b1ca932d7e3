"""shardax/numpy/_elementwise/exponentials.py - logarithms of sums of exponentials, and softmax,
without
overflow: for shardax.nn, shardax.scipy.special and shardax.random."""

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import asarray, hashable_axis, in_one_program, static_jit


@in_one_program("axis", "keepdims", "return_sign", at_once=True)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """The logarithm of a sum of exponentials, log(sum(b * exp(a))) over `axis`, without overflow.

    Args:
      a: an array of numbers.
      axis: the dimension(s), an int or a tuple; None: all.
      b: factors that broadcast to the shape of `a`.
      keepdims: whether reduced dimensions stay, with size 1.
      return_sign: whether to return the sign of the sum as well, and the logarithm of its size.
      where: a boolean array that broadcasts to the shape of `a`: elements that count.

    Returns:
      Floats in the shape of `a` without the dimensions in `axis`, or a pair of them.

    Example:
      >>> nn.logsumexp(jnp.array([1000.0, 1000.0])) - 1000
      Array(0.69317627, dtype=float32)
    """
    a, b = (_core.promote("inexact", a)[0], None) if b is None else _core.promote("inexact", a, b)
    if b is not None:
        a = jnp.where(b != 0, a, -jnp.inf)
    if where is not None:
        a = jnp.where(where, a, -jnp.inf)
    top = jnp.max(a.real, axis, keepdims=True, initial=-jnp.inf)
    top = lax.stop_gradient(jnp.where(jnp.isfinite(top), top, jnp.zeros_like(top)))
    terms = jnp.exp(a - top.astype(a.dtype))
    terms = terms if b is None else terms * b
    total = jnp.sum(terms, axis, keepdims=keepdims)
    top = top if keepdims else top.reshape(total.shape)
    if return_sign:
        return jnp.log(jnp.abs(total)) + top, jnp.sign(total)
    if b is not None and not jnp.iscomplexobj(total):
        total = jnp.where(total < 0, jnp.nan, total)
    return jnp.log(total) + top.astype(total.dtype)


def plain_logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """The logarithm of a sum of exponentials, log(sum(b * exp(a))) over `axis`, without overflow.

    Args:
      a: an array of numbers.
      axis: the dimension(s), an int or a tuple; None: all.
      b: factors that broadcast to the shape of `a`.
      keepdims: whether reduced dimensions stay, with size 1.
      return_sign: whether to return the sign of the sum as well, and the logarithm of its size.
      where: a boolean array that broadcasts to the shape of `a`: elements that count.

    Returns:
      Floats in the shape of `a` without the dimensions in `axis`, or a pair of them.

    Example:
      >>> nn.logsumexp(jnp.array([1000.0, 1000.0])) - 1000
      Array(0.69317627, dtype=float32)
    """
    if b is not None or return_sign or where is not None:
        return logsumexp(a, axis, b, keepdims, return_sign, where)
    return _logsumexp(a, axis=hashable_axis(axis), keepdims=keepdims)


@static_jit("axis", "keepdims")
def _logsumexp(a, axis, keepdims):
    a = _core.promote("inexact", a)[0]
    top = jnp.max(a.real, axis, keepdims=True, initial=None if a.size else -jnp.inf)
    top = lax.stop_gradient(jnp.where(jnp.isfinite(top), top, jnp.zeros_like(top)))
    top = top.astype(a.dtype)
    out = jnp.log(jnp.sum(jnp.exp(a - top), axis, keepdims=keepdims))
    return out + (top if keepdims else top.reshape(out.shape))


def softmax(x, axis=-1, where=None):
    """The softmax of logits: exp(x) over its sum along `axis`, without overflow.

    Args:
      x: an array of floats.
      axis: the dimension(s) whose elements add up to 1, an int or a tuple; None: all.
      where: a boolean array that broadcasts to the shape of `x`: elements that count; others are 0.

    Returns:
      Floats in [0, 1] of the shape and dtype of `x`.

    Example:
      >>> nn.softmax(jnp.array([0.0, 0.0, jnp.log(2.0)]))
      Array([0.25, 0.25, 0.5 ], dtype=float32)
    """
    return _softmax(x, where, axis=hashable_axis(axis))


@static_jit("axis")
def _softmax(x, where, axis):
    x = asarray(x)
    top = jnp.max(x, axis, where=where, initial=-jnp.inf, keepdims=True)
    kept = x if where is None else jnp.where(where, x, -jnp.inf)
    unnormalized = jnp.exp(kept - lax.stop_gradient(top))
    total = jnp.sum(unnormalized, axis, where=where, keepdims=True)
    out = unnormalized / total
    return out if where is None else jnp.where(where, out, 0)


def log_softmax(x, axis=-1, where=None):
    """The logarithm of the softmax of logits: x - logsumexp(x) along `axis`.

    Args:
      x: an array of floats.
      axis: the dimension(s), an int or a tuple; None: all.
      where: a boolean array that broadcasts to the shape of `x`: elements that count; others are
        -inf.

    Returns:
      Floats <= 0 of the shape and dtype of `x`.

    Example:
      >>> nn.log_softmax(jnp.array([0.0, 0.0])).round(3)
      Array([-0.693, -0.693], dtype=float32)
    """
    return _log_softmax(x, where, axis=hashable_axis(axis))


@static_jit("axis")
def _log_softmax(x, where, axis):
    x = asarray(x)
    top = jnp.max(x, axis, where=where, initial=-jnp.inf, keepdims=True)
    kept = x if where is None else jnp.where(where, x, -jnp.inf)
    shifted = kept - lax.stop_gradient(top)
    total = jnp.log(jnp.sum(jnp.exp(shifted), axis, where=where, keepdims=True))
    out = shifted - total
    return out if where is None else jnp.where(where, out, -jnp.inf)


plain_logsumexp.__name__ = plain_logsumexp.__qualname__ = "logsumexp"
logsumexp.__module__ = "shardax.scipy.special"
for _function in (plain_logsumexp, softmax, log_softmax):
    _function.__module__ = "shardax.nn"
