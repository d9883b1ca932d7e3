"""shardax/nn/_piecewise.py - activation functions of pieces: rectifiers, and limited lines."""

import numpy as np

from shardax import numpy as jnp
from shardax._base.arrays import asarray
from shardax._transform.jit import jit


def _zero_or_nan(x):
    """0, where x is NaN it; constant for derivatives."""
    return jnp.where(x != x, np.nan, 0.0) if jnp.issubdtype(x.dtype, jnp.floating) else 0


@jit
def relu(x):
    """The rectified linear unit, max(x, 0), elementwise; its derivative at 0 and NaN is 0.

    Args:
      x: an array of numbers.

    Returns:
      The shape and dtype of `x`.

    Example:
      >>> nn.relu(jnp.array([-1.0, 0.0, 2.0]))
      Array([0., 0., 2.], dtype=float32)
      >>> shardax.grad(nn.relu)(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    x = asarray(x)
    return jnp.where(x > 0, x, _zero_or_nan(x))


@jit
def relu6(x):
    """The rectified linear unit that ends at 6, min(max(x, 0), 6), elementwise.

    Args:
      x: an array of numbers.

    Returns:
      Floats in the shape of `x`.

    Source: Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010.

    Example:
      >>> nn.relu6(jnp.array([-1.0, 2.0, 7.0]))
      Array([0., 2., 6.], dtype=float32)
    """
    x = asarray(x)
    return jnp.where(x > 0, jnp.where(x < 6, x, 6.0), _zero_or_nan(x))


@jit
def leaky_relu(x, negative_slope=1e-2):
    """The leaky rectified linear unit, elementwise: x where not negative, else negative_slope * x.

    Args:
      x: an array of numbers; integers become float32.
      negative_slope: the slope on the left.

    Returns:
      Floats in the shape of `x`.

    Example:
      >>> nn.leaky_relu(jnp.array([-1.0, 2.0]), negative_slope=0.25)
      Array([-0.25,  2.  ], dtype=float32)
    """
    x = asarray(x)
    return jnp.where(x >= 0, x, negative_slope * x)


@jit
def hard_tanh(x):
    """The elements limited to [-1, 1].

    Args:
      x: an array of numbers.

    Returns:
      The shape and dtype of `x`.

    Example:
      >>> nn.hard_tanh(jnp.array([-2.0, 0.5, 3.0]))
      Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    x = asarray(x)
    return jnp.where(x > 1, 1, jnp.where(x < -1, -1, x))


@jit
def hard_sigmoid(x):
    """The piecewise linear sigmoid relu6(x + 3) / 6, elementwise.

    Args:
      x: an array of numbers.

    Returns:
      Floats in [0, 1] in the shape of `x`.

    Example:
      >>> nn.hard_sigmoid(jnp.array([-4.0, 0.0, 4.0]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    return relu6(asarray(x) + 3.0) / 6.0


@jit
def hard_silu(x):
    """The function x * hard_sigmoid(x), elementwise; `nn.hard_swish` is another name.

    Args:
      x: an array of numbers.

    Returns:
      Floats in the shape of `x`.

    Source: Howard et al., "Searching for MobileNetV3", 2019.

    Example:
      >>> nn.hard_silu(jnp.array([-4.0, 1.5, 4.0]))
      Array([-0.   ,  1.125,  4.   ], dtype=float32)
    """
    x = asarray(x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


@jit
def sparse_plus(x):
    """The function that is 0 below -1, x above 1, and (x + 1)^2 / 4 between, elementwise.

    Args:
      x: an array of numbers.

    Returns:
      The shape of `x`.

    Example:
      >>> nn.sparse_plus(jnp.array([-2.0, 0.0, 3.0]))
      Array([0.  , 0.25, 3.  ], dtype=float32)
    """
    x = asarray(x)
    return jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 4))


@jit
def sparse_sigmoid(x):
    """The function that is 0 below -1, 1 above 1, and (x + 1) / 2 between, elementwise.

    It is the derivative of `nn.sparse_plus`.

    Args:
      x: an array of numbers.

    Returns:
      The shape of `x`.

    Example:
      >>> nn.sparse_sigmoid(jnp.array([-2.0, 0.0, 3.0]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    return 0.5 * jnp.clip(asarray(x) + 1.0, 0.0, 2.0)
