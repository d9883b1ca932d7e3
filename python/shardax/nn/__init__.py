"""shardax.nn - activation functions and other parts of neural networks."""

import math
import operator
import warnings

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import asarray, canonical_axis, known
from shardax._base.arrays import in_one_program as _in_one_program
from shardax._base.lazy_modules import at_first_use as _at_first_use
from shardax._transform.custom.jvp import custom_jvp as _custom_jvp
from shardax._transform.jit import jit
from shardax.numpy._elementwise.exponentials import log_softmax, softmax
from shardax.numpy._elementwise.exponentials import plain_logsumexp as logsumexp

__all__ = [
    "celu",
    "dot_product_attention",
    "elu",
    "gelu",
    "get_scaled_dot_general_config",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "scaled_dot_general",
    "scaled_matmul",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
]

_, __getattr__, __dir__ = _at_first_use(
    __name__,
    {
        "_activations": (
            "celu elu gelu glu identity log_sigmoid mish selu sigmoid silu soft_sign softplus "
            "squareplus swish tanh"
        ),
        "_attention": "dot_product_attention",
        "_piecewise": (
            "hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu relu relu6 sparse_plus "
            "sparse_sigmoid"
        ),
        "_scaled": "get_scaled_dot_general_config scaled_dot_general scaled_matmul",
    },
    ("initializers",),
)


def logmeanexp(x, axis=None, where=None, keepdims=False):
    """The logarithm of a mean of exponentials, log(mean(exp(x))) over `axis`, without overflow.

    Args:
      x: an array of floats.
      axis: the dimension(s), an int or a tuple; None: all.
      where: a boolean array: elements that count.
      keepdims: whether reduced dimensions stay, with size 1.

    Example:
      >>> nn.logmeanexp(jnp.zeros(3))
      Array(0., dtype=float32)
    """
    x = _core.promote("inexact", x)[0]
    counted = jnp.ones(x.shape, bool) if where is None else jnp.broadcast_to(where, x.shape)
    count = jnp.sum(counted, axis, keepdims=keepdims).astype(x.dtype)
    return logsumexp(x, axis, where=where, keepdims=keepdims) - jnp.log(count)


@_custom_jvp
def _log1mexp(x):
    near = x < math.log(2.0)
    below, above = jnp.where(near, x, 1.0), jnp.where(near, 1.0, x)
    return jnp.where(near, jnp.log(-jnp.expm1(-below)), jnp.log1p(-jnp.exp(-above)))


_log1mexp.defjvps(lambda t, out, x: t / jnp.expm1(x))


@jit
def log1mexp(x):
    """The function log(1 - exp(-x)) of positive numbers, elementwise, exact near 0 and far from it.

    Args:
      x: an array of positive numbers.

    Returns:
      Floats in the shape of `x`.

    Example:
      >>> nn.log1mexp(1.0).round(3)
      Array(-0.459, dtype=float32, weak_type=True)
    """
    return _log1mexp(_core.promote("inexact", x)[0])


@_in_one_program("axis", "algorithm")
def standardize(
    x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None, *, algorithm="fast"
):
    """The elements shifted and scaled to mean 0 and variance 1 along `axis`: (x - mean) /
    sqrt(variance + epsilon).

    Args:
      x: an array of numbers.
      axis: the dimension(s), an int or a tuple.
      mean, variance: those where they are known already.
      epsilon: is added to the variance.
      where: a boolean array: elements that count for mean and variance.
      algorithm: "fast": the variance is the mean square less the squared mean; "stable": the mean
        squared distance from the mean.

    Returns:
      Floats in the shape of `x`.

    Example:
      >>> nn.standardize(jnp.array([1.0, 2.0, 3.0])).round(2)
      Array([-1.22,  0.  ,  1.22], dtype=float32)
    """
    if algorithm not in ("fast", "stable"):
        raise ValueError(f"standardize: algorithm must be 'fast' or 'stable', got {algorithm!r}.")
    x = asarray(x)
    if mean is None:
        mean = jnp.mean(x, axis, keepdims=True, where=where)
    if variance is None and algorithm == "stable":
        variance = jnp.var(x, axis, keepdims=True, where=where, mean=mean)
    elif variance is None:
        variance = jnp.mean(jnp.square(x), axis, keepdims=True, where=where) - jnp.square(mean)
        variance = jnp.maximum(variance, 0)  # rounding may leave less
    return (x - mean) * lax.rsqrt(variance + asarray(epsilon).astype(variance.dtype))


normalize = standardize  # its name in earlier years


def one_hot(x, num_classes, *, dtype=None, axis=-1):
    """Vectors with a 1 at an index and zeros elsewhere.

    Args:
      x: indices, integers of any shape. Those out of range give zeros.
      num_classes: the length of vectors.
      dtype: of the result; None: float32.
      axis: the position of the new dimension in the result, or the name of a mapped axis.

    Returns:
      An array with one dimension more than `x`.

    Example:
      >>> nn.one_hot(jnp.array([0, 2, 5]), 3)
      Array([[1., 0., 0.],
             [0., 0., 1.],
             [0., 0., 0.]], dtype=float32)
    """
    x = asarray(x)
    if x.dtype.kind not in "iuV":
        warnings.warn(
            f"jax.nn.one_hot input should be integer-typed; got dtype={x.dtype}",
            DeprecationWarning,
            stacklevel=2,
        )
    return _one_hot(x, num_classes, dtype=dtype, axis=axis)


@_in_one_program("num_classes", "dtype", "axis")
def _one_hot(x, num_classes, *, dtype, axis):
    known(num_classes, "The error arose in jax.nn.one_hot argument `num_classes`.")
    dtype = _core.canonical_dtype(float) if dtype is None else _core.dtype_of(dtype)
    place = canonical_axis(axis, x.ndim + 1)
    shape = [1] * (x.ndim + 1)
    shape[place] = operator.index(num_classes)
    classes = lax.broadcasted_iota(x.dtype, shape, place)
    return _core.convert(jnp.equal(jnp.expand_dims(x, place), classes), dtype)
