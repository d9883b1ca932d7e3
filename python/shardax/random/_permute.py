# shardax/random/_permute.py - permutations, choices and categories.
import math

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import (
    asarray,
    canonical_axis,
    check_arraylike,
    in_one_program,
    operand_of,
    result_type,
    static_jit,
)
from shardax._devices.out_sharding import takes_out_sharding
from shardax.random._continuous import gumbel
from shardax.random._keys import check_key, draw_words, partitionable, subkeys
from shardax.random._parameters import drawn_shape, to_shape
from shardax.random._uniform import randint, uniform


@static_jit("axis", "stream")
def _shuffle(key, x, axis, stream):
    # Sorting by 32 random bits leaves ties; enough rounds make them unlikely.
    rounds = int(np.ceil(3 * np.log(max(1, x.size)) / np.log(np.iinfo(np.uint32).max)))
    for _ in range(rounds):
        key, sub = subkeys(key, stream)
        order = draw_words(sub, 32, x.shape, stream)
        x = lax.sort_key_val(order, x, axis)[1]
    return x


@takes_out_sharding
def permutation(key, x, axis=0, independent=False, *, out_sharding=None):
    """The slices of an array, or the integers below a number, in random order.

    Args:
      key: a typed or raw key.
      x: an array, or an int: 0, 1, ..., x - 1.
      axis: the dimension to permute.
      independent: whether each vector along `axis` gets an order of its own; slices stay whole
        otherwise.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      An array of the shape and dtype of `x`.

    Raises:
      TypeError: `key` is no key.

    Example:
      >>> random.permutation(random.key(0), 5)
      Array([0, 1, 4, 3, 2], dtype=int32)
      >>> random.permutation(random.key(1), jnp.array([[1, 2], [3, 4], [5, 6]]))
      Array([[5, 6],
             [1, 2],
             [3, 4]], dtype=int32)
    """
    key = check_key("permutation", key)
    check_arraylike("permutation", x)
    if np.ndim(x) == 0:
        if not jnp.issubdtype(result_type(x), np.integer):
            raise TypeError("x must be an integer or at least 1-dimensional")
        canonical_axis(axis, 1)
        return _shuffle(key, jnp.arange(int(x)), axis=0, stream=partitionable())
    x = asarray(x)
    axis = canonical_axis(axis, x.ndim)
    if independent or x.ndim == 1:
        return _shuffle(key, x, axis=axis, stream=partitionable())
    return jnp.take(
        x, _shuffle(key, jnp.arange(x.shape[axis]), axis=0, stream=partitionable()), axis=axis
    )


def shuffle(key, x, axis=0):
    """Elements in random order along `axis`: `random.permutation` with independent=True, as
    programs of earlier years call it.

    Example:
      >>> random.shuffle(random.key(0), jnp.arange(3)).shape
      (3,)
    """
    return permutation(key, x, axis, independent=True)


def choice(key, a, shape=(), replace=True, p=None, axis=0, mode=None):
    """Elements of an array, or integers below a number, drawn at random.

    Args:
      key: a typed or raw key.
      a: an array, or an int: 0, 1, ..., a - 1.
      shape: a tuple of ints: how many are drawn.
      replace: whether one may be drawn twice.
      p: a vector of probabilities, one for each element; None: all are equal.
      axis: the dimension of `a` whose slices are drawn.
      mode: "low" or "high", as in `random.gumbel`, used without replacement and with `p`.

    Returns:
      An array in which `shape` stands in the place of `axis`.

    Raises:
      ValueError: more elements are drawn without replacement than there are, or `p` has another
        length.
      TypeError: `key` is no key.

    Example:
      >>> random.choice(random.key(0), 10, (4,), replace=False)
      Array([0, 1, 8, 5], dtype=int32)
      >>> random.choice(random.key(0), jnp.array([1.0, 2.0]), (3,), p=jnp.array([0.5, 0.5]))
      Array([1., 1., 2.], dtype=float32)
    """
    key = check_key("choice", key)
    if not isinstance(shape, (list, tuple)):
        raise TypeError(f"shape argument of jax.random.choice must be a sequence, got {shape}")
    check_arraylike("choice", a)
    shape = to_shape(shape)
    arange = np.ndim(a) == 0
    n = int(a) if arange else asarray(a).shape[canonical_axis(axis, np.ndim(a))]
    draws = math.prod(shape)
    if draws == 0:
        return jnp.zeros(shape, int if arange else asarray(a).dtype)
    if n <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if not replace and draws > n:
        raise ValueError(
            f"Cannot take a larger sample (size {draws}) than population (size {n}) when "
            "'replace=False'"
        )
    if p is None:
        if replace:
            index = randint(key, shape, 0, n)
        else:
            x = permutation(key, n if arange else a, axis)
            low = [slice(None)] * max(np.ndim(x), 1)
            low[0 if arange else canonical_axis(axis, x.ndim)] = slice(0, draws)
            x = x[tuple(low)]
            if arange or x.ndim == 1:
                return x.reshape(shape)
            d = canonical_axis(axis, x.ndim)
            return x.reshape(x.shape[:d] + shape + x.shape[d + 1 :])
    else:
        p = _core.promote("inexact", p)[0]
        if p.shape != (n,):
            raise ValueError(
                "p must be None or a 1D vector with the same size as a.shape[axis]. "
                f"p has shape {p.shape} and a.shape[axis] is {n}."
            )
        if replace:
            total = jnp.cumsum(p)
            r = total[-1] * (1 - uniform(key, shape, dtype=total.dtype))
            index = jnp.searchsorted(total, r).astype(int)
        else:
            g = gumbel(key, (n,), p.dtype, mode) + jnp.log(p)
            index = lax.top_k(g, draws)[1].reshape(shape)
    return index if arange else jnp.take(asarray(a), index, axis=axis)


@in_one_program("axis", "shape", "replace", "mode", at_once=True)
@takes_out_sharding
def categorical(key, logits, axis=-1, shape=None, replace=True, mode=None, *, out_sharding=None):
    """Indices along `axis`, drawn with probabilities proportional to exp(logits).

    Args:
      key: a typed or raw key.
      logits: an array of floats: logarithms of probabilities up to a constant for each vector.
      axis: the dimension of the categories.
      shape: the shape of the result, whose last sizes are those of `logits` without `axis`; None:
        those alone.
      replace: whether one category may be drawn twice along the leading dimensions of `shape`.
      mode: "low" or "high", as in `random.gumbel`.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      int32 (int64 under x64).

    Raises:
      ValueError: shapes do not fit.

    Source: the Gumbel-max trick; Gumbel, "Statistical theory of extreme values", 1954.

    Example:
      >>> logits = jnp.log(jnp.array([0.1, 0.2, 0.7]))
      >>> random.categorical(random.key(0), logits, shape=(5,))
      Array([1, 2, 2, 1, 2], dtype=int32)
    """
    key = check_key("categorical", key)
    logits = operand_of("categorical", logits)
    if not -logits.ndim <= axis < logits.ndim:
        raise IndexError(
            f"categorical: axis {axis} is out of bounds for logits of shape {logits.shape}."
        )
    axis = canonical_axis(axis, logits.ndim)
    batch = logits.shape[:axis] + logits.shape[axis + 1 :]
    shape = batch if shape is None else drawn_shape("categorical", to_shape(shape), batch)
    prefix = shape[: len(shape) - len(batch)]
    if replace:
        drawn = list(shape[len(prefix) :])
        drawn.insert(axis, logits.shape[axis])
        noise = gumbel(key, prefix + tuple(drawn), logits.dtype, mode)
        scores = noise + jnp.expand_dims(logits, tuple(range(len(prefix))))
        return jnp.argmax(scores, axis=axis + len(prefix))
    count, categories = math.prod(prefix), logits.shape[axis]
    if count > categories:
        raise ValueError(
            f"Number of samples without replacement ({count}) cannot exceed number of categories "
            f"({categories})."
        )
    scores = logits + gumbel(key, logits.shape, logits.dtype, mode)
    highest = lax.top_k(jnp.moveaxis(scores, axis, -1), count)[1]
    return jnp.moveaxis(highest, -1, 0).reshape(shape)
