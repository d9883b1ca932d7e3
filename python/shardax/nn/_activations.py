"""shardax/nn/_activations.py - activation functions."""

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import (
    asarray,
    check_arraylike,
    hashable_axis,
    static_jit,
)
from shardax._transform.jit import jit


def identity(x):
    """The activation that returns its argument.

    Example:
      >>> nn.identity(jnp.array([-1.0, 2.0]))
      Array([-1.,  2.], dtype=float32)
    """
    check_arraylike("identity", x)
    return asarray(x)


@jit
def sigmoid(x):
    """The logistic function 1 / (1 + exp(-x)), elementwise.

    Args:
      x: an array of floats or complex numbers.

    Returns:
      Floats in (0, 1) in the shape of `x`.

    Raises:
      TypeError: for integers.

    Example:
      >>> nn.sigmoid(jnp.array([0.0, 2.0])).round(3)
      Array([0.5  , 0.881], dtype=float32)
    """
    return lax.logistic(x)


@jit
def softplus(x):
    """The function log(1 + exp(x)), elementwise: a smooth relu.

    Args:
      x: an array of numbers; integers become float32.

    Returns:
      Positive floats in the shape of `x`.

    Example:
      >>> nn.softplus(jnp.array([-1.0, 0.0, 100.0])).round(3)
      Array([  0.313,   0.693, 100.   ], dtype=float32)
    """
    return jnp.logaddexp(x, 0)


@jit
def soft_sign(x):
    """The function x / (|x| + 1), elementwise, from -1 to 1.

    Args:
      x: an array of numbers; integers become float32.

    Returns:
      Floats in the shape of `x`.

    Example:
      >>> nn.soft_sign(jnp.array([-1.0, 3.0]))
      Array([-0.5 ,  0.75], dtype=float32)
    """
    x = asarray(x)
    return x / (jnp.abs(x) + 1)


@jit
def silu(x):
    """The sigmoid linear unit, x * sigmoid(x), elementwise; `nn.swish` is another name.

    Args:
      x: an array of floats or complex numbers.

    Returns:
      Floats in the shape of `x`.

    Raises:
      TypeError: for integers.

    Source: Elfwing, Uchibe, Doya, "Sigmoid-weighted linear units for neural network function
      approximation in reinforcement learning", 2017.

    Example:
      >>> nn.silu(jnp.array([-1.0, 0.0, 2.0])).round(3)
      Array([-0.269,  0.   ,  1.762], dtype=float32)
    """
    x = asarray(x)
    return x * sigmoid(x)


swish = silu


@jit
def mish(x):
    """The function x * tanh(softplus(x)), elementwise.

    Args:
      x: an array of numbers; integers become float32.

    Returns:
      Floats in the shape of `x`.

    Source: Misra, "Mish: a self regularized non-monotonic activation function", 2019.

    Example:
      >>> nn.mish(jnp.array([-1.0, 0.0, 2.0])).round(3)
      Array([-0.303,  0.   ,  1.944], dtype=float32)
    """
    x = asarray(x)
    return x * jnp.tanh(softplus(x))


@jit
def log_sigmoid(x):
    """The logarithm of the logistic function, -softplus(-x), elementwise.

    Args:
      x: an array of numbers; integers become float32.

    Returns:
      Negative floats in the shape of `x`.

    Example:
      >>> nn.log_sigmoid(jnp.array([-100.0, 0.0])).round(3)
      Array([-100.   ,   -0.693], dtype=float32)
    """
    return -softplus(-asarray(x))


def tanh(x):
    """The hyperbolic tangent, elementwise, from -1 to 1.

    Args:
      x: an array of numbers; integers become float32.

    Returns:
      Floats in the shape of `x`.

    Example:
      >>> nn.tanh(jnp.array([0.0, 1.0])).round(3)
      Array([0.   , 0.762], dtype=float32)
    """
    return jnp.tanh(x)


@jit
def elu(x, alpha=1.0):
    """The exponential linear unit, elementwise: x where positive, else alpha * (exp(x) - 1).

    Args:
      x: an array of numbers; integers become float32.
      alpha: the negative of the limit on the left.

    Returns:
      Floats in the shape of `x`.

    Source: Clevert, Unterthiner, Hochreiter, "Fast and accurate deep network learning by
      exponential linear units (ELUs)", 2015.

    Example:
      >>> nn.elu(jnp.array([-1.0, 2.0])).round(3)
      Array([-0.632,  2.   ], dtype=float32)
    """
    x = asarray(x)
    return jnp.where(x > 0, x, alpha * jnp.expm1(jnp.where(x > 0, 0.0, x)))


@jit
def celu(x, alpha=1.0):
    """The continuously differentiable exponential linear unit, elementwise.

    It is max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).

    Args:
      x: an array of numbers; integers become float32.
      alpha: the negative of the limit on the left.

    Returns:
      Floats in the shape of `x`.

    Source: Barron, "Continuously differentiable exponential linear units", 2017.

    Example:
      >>> nn.celu(jnp.array([-1.0, 2.0]), alpha=0.5).round(3)
      Array([-0.432,  2.   ], dtype=float32)
    """
    x = asarray(x)
    return jnp.maximum(x, 0.0) + alpha * jnp.expm1(jnp.minimum(x, 0.0) / alpha)


@jit
def selu(x):
    """The self-normalising exponential linear unit, elementwise: scale * elu(x, alpha).

    The constants (1.0507, 1.6733) keep the mean 0 and the variance 1 through layers.

    Args:
      x: an array of numbers; integers become float32.

    Returns:
      Floats in the shape of `x`.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017.

    Example:
      >>> nn.selu(jnp.array([-1.0, 2.0])).round(2)
      Array([-1.11,  2.1 ], dtype=float32)
    """
    alpha = 1.6732632423543772848170429916717
    scale = 1.0507009873554804934193349852946
    return scale * elu(x, alpha)


@static_jit("approximate")
def gelu(x, approximate=True):
    """The Gaussian error linear unit, elementwise: x times the normal distribution function.

    Args:
      x: an array of numbers; integers become float32.
      approximate: whether the distribution function is approximated by tanh; by erf otherwise.

    Returns:
      Floats in the shape of `x`.

    Source: Hendrycks, Gimpel, "Gaussian error linear units (GELUs)", 2016.

    Example:
      >>> nn.gelu(jnp.array([-1.0, 2.0])).round(3)
      Array([-0.159,  1.955], dtype=float32)
      >>> nn.gelu(jnp.array([-1.0, 2.0]), approximate=False).round(3)
      Array([-0.159,  1.954], dtype=float32)
    """
    x = _core.promote("inexact", x)[0]
    if approximate:
        # sigmoid(2 u) is (1 + tanh(u)) / 2, without the cancellation of that sum below 0.
        c = np.sqrt(8 / np.pi).astype(x.dtype)
        return x * sigmoid(c * (x + 0.044715 * (x**3)))
    return 0.5 * x * lax.erfc(-x / np.sqrt(2).astype(x.dtype))


def glu(x, axis=-1):
    """The gated linear unit: the first half along `axis` times the sigmoid of the second.

    Args:
      x: an array whose size along `axis` is even.
      axis: the dimension.

    Returns:
      The shape of `x`, with half the size along `axis`.

    Raises:
      ValueError: that size is odd.

    Source: Dauphin et al., "Language modeling with gated convolutional networks", 2017.

    Example:
      >>> nn.glu(jnp.array([1.0, 2.0, 0.0, 0.0]))
      Array([0.5, 1. ], dtype=float32)
    """
    return _glu(x, axis=hashable_axis(axis))


@static_jit("axis")
def _glu(x, axis):
    size = x.shape[axis]
    if size % 2:
        raise ValueError("axis size must be divisible by 2")
    a, b = jnp.split(x, 2, axis)
    return a * sigmoid(b)


@jit
def squareplus(x, b=4):
    """The smooth relu (x + sqrt(x^2 + b)) / 2, elementwise.

    Args:
      x: an array of numbers.
      b: the smoothness.

    Returns:
      Floats in the shape of `x`.

    Source: Barron, "Squareplus: a softplus-like algebraic rectifier", 2021.

    Example:
      >>> nn.squareplus(jnp.array([0.0, 1.5]))
      Array([1., 2.], dtype=float32)
    """
    x = asarray(x)
    return 0.5 * (x + jnp.sqrt(x * x + b))
