"""shardax.nn - activation functions and what neural networks need beside them."""

import math
import operator
import warnings

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import (
    asarray,
    canonical_axis,
    check_arraylike,
    hashable_axis,
    known,
    static_jit,
)
from shardax._base.arrays import (
    in_one_program as _in_one_program,
)
from shardax._base.lazy_modules import at_first_use as _at_first_use
from shardax._transform.custom.jvp import custom_jvp as _custom_jvp
from shardax._transform.jit import jit
from shardax.numpy._exponentials import log_softmax, softmax
from shardax.numpy._exponentials import plain_logsumexp as logsumexp

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
        "_attention": "dot_product_attention",
        "_scaled": "get_scaled_dot_general_config scaled_dot_general scaled_matmul",
    },
    ("initializers",),
)


def identity(x):
    """x."""
    check_arraylike("identity", x)
    return asarray(x)


def _zero_or_nan(x):
    """0, where x is NaN it; constant for derivatives."""
    return jnp.where(x != x, np.nan, 0.0) if jnp.issubdtype(x.dtype, jnp.floating) else 0


@jit
def relu(x):
    """max(x, 0); its derivative at 0 and NaN is 0."""
    x = asarray(x)
    return jnp.where(x > 0, x, _zero_or_nan(x))


@jit
def relu6(x):
    """min(max(x, 0), 6)."""
    x = asarray(x)
    return jnp.where(x > 0, jnp.where(x < 6, x, 6.0), _zero_or_nan(x))


@jit
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return lax.logistic(x)


@jit
def softplus(x):
    """log(1 + exp(x))."""
    return jnp.logaddexp(x, 0)


@jit
def soft_sign(x):
    """x / (|x| + 1)."""
    x = asarray(x)
    return x / (jnp.abs(x) + 1)


@jit
def silu(x):
    """x * sigmoid(x)."""
    x = asarray(x)
    return x * sigmoid(x)


swish = silu


@jit
def mish(x):
    """x * tanh(softplus(x))."""
    x = asarray(x)
    return x * jnp.tanh(softplus(x))


@jit
def log_sigmoid(x):
    """log(sigmoid(x))."""
    return -softplus(-asarray(x))


def tanh(x):
    """The hyperbolic tangent."""
    return jnp.tanh(x)


@jit
def elu(x, alpha=1.0):
    """x where positive, else alpha * (exp(x) - 1)."""
    x = asarray(x)
    return jnp.where(x > 0, x, alpha * jnp.expm1(jnp.where(x > 0, 0.0, x)))


@jit
def leaky_relu(x, negative_slope=1e-2):
    """x where not negative, else negative_slope * x."""
    x = asarray(x)
    return jnp.where(x >= 0, x, negative_slope * x)


@jit
def celu(x, alpha=1.0):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)."""
    x = asarray(x)
    return jnp.maximum(x, 0.0) + alpha * jnp.expm1(jnp.minimum(x, 0.0) / alpha)


@jit
def selu(x):
    """The self-normalising unit (Klambauer et al., 2017)."""
    alpha = 1.6732632423543772848170429916717
    scale = 1.0507009873554804934193349852946
    return scale * elu(x, alpha)


@static_jit("approximate")
def gelu(x, approximate=True):
    """The Gaussian error linear unit (Hendrycks and Gimpel, 2016), by tanh or by erf."""
    x = _core.promote("inexact", x)[0]
    if approximate:
        # sigmoid(2 u) is (1 + tanh(u)) / 2, without the cancellation of that sum below 0.
        c = np.sqrt(8 / np.pi).astype(x.dtype)
        return x * sigmoid(c * (x + 0.044715 * (x**3)))
    return 0.5 * x * lax.erfc(-x / np.sqrt(2).astype(x.dtype))


def glu(x, axis=-1):
    """The first half along `axis` times the sigmoid of the second."""
    return _glu(x, axis=hashable_axis(axis))


@static_jit("axis")
def _glu(x, axis):
    size = x.shape[axis]
    if size % 2:
        raise ValueError("axis size must be divisible by 2")
    a, b = jnp.split(x, 2, axis)
    return a * sigmoid(b)


@jit
def hard_tanh(x):
    """x limited to [-1, 1]."""
    x = asarray(x)
    return jnp.where(x > 1, 1, jnp.where(x < -1, -1, x))


@jit
def hard_sigmoid(x):
    """relu6(x + 3) / 6."""
    return relu6(asarray(x) + 3.0) / 6.0


@jit
def hard_silu(x):
    """x * hard_sigmoid(x)."""
    x = asarray(x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


@jit
def squareplus(x, b=4):
    """(x + sqrt(x^2 + b)) / 2."""
    x = asarray(x)
    return 0.5 * (x + jnp.sqrt(x * x + b))


@jit
def sparse_plus(x):
    """0 below -1, x above 1, (x + 1)^2 / 4 between."""
    x = asarray(x)
    return jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 4))


@jit
def sparse_sigmoid(x):
    """0 below -1, 1 above 1, (x + 1) / 2 between."""
    return 0.5 * jnp.clip(asarray(x) + 1.0, 0.0, 2.0)


def logmeanexp(x, axis=None, where=None, keepdims=False):
    """log(mean(exp(x))) over `axis` without overflow; `where` says which elements count.

    >>> logmeanexp(jnp.zeros(3))
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
    """log(1 - exp(-x)) of positive x, accurate near 0 and far from it.

    >>> log1mexp(1e-6)
    Array(-13.815511, dtype=float32, weak_type=True)
    """
    return _log1mexp(_core.promote("inexact", x)[0])


@_in_one_program("axis", "algorithm")
def standardize(
    x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None, *, algorithm="fast"
):
    """(x - mean) / sqrt(variance + epsilon) along `axis`.

    The variance is the mean square less the squared mean where `algorithm` is "fast", else, if
    "stable", the mean squared distance from the mean.
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
    """A new dimension of size num_classes, 1 at the index that x gives.

    Zeros for indices out of range. Indices that are no integers are deprecated.
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
    classes = (
        np.arange(operator.index(num_classes))
        .reshape((1,) * place + (-1,) + (1,) * (x.ndim - place))
        .astype(x.dtype)
    )
    return _core.convert(jnp.equal(jnp.expand_dims(x, place), classes), dtype)
