"""shardax/scipy/_normal.py - the standard normal: its distribution, the logarithm, the inverse."""

import math

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import in_one_program
from shardax._transform.custom.jvp import custom_jvp
from shardax.scipy._integrals import erfcx


@in_one_program("series_order")
def log_ndtr(x, series_order=3):
    """The logarithm of the normal distribution function, elementwise, which does not underflow.

    Args:
      x: floats.
      series_order: an int from 0 to 30, without effect: there is no series to end.

    Raises:
      TypeError, ValueError: for another `series_order`.

    Example:
      >>> shardax.scipy.special.log_ndtr(jnp.array([0.0, -20.0])).round(2)
      Array([  -0.69, -203.92], dtype=float32)
    """
    if not isinstance(series_order, int):
        raise TypeError(f"series_order must be a Python integer, got {series_order!r}.")
    if not 0 <= series_order <= 30:
        wanted = "non-negative" if series_order < 0 else "<= 30"
        raise ValueError(f"series_order must be {wanted}, got {series_order}.")
    x = _core.promote("inexact", x)[0]
    # Chosen rather than clipped: at the joints, too, all of the slope is one piece's.
    low, high = x < -1, x > 0
    middle = jnp.where(low | high, 0, x)
    far = jnp.where(low, x, -1)
    tail = jnp.log(erfcx(far * -math.sqrt(0.5))) - 0.5 * far * far - math.log(2)
    top = jnp.where(high, x, 0)
    value = jnp.where(high, jnp.log1p(-ndtr(-top)), jnp.log(ndtr(middle)))
    return jnp.where(low, tail, value).astype(x.dtype)


def ndtr(x):
    """The cumulative distribution function of the standard normal distribution, elementwise.

    Example:
      >>> shardax.scipy.special.ndtr(jnp.array([0.0, 1.0])).round(3)
      Array([0.5  , 0.841], dtype=float32)
    """
    x = _core.promote("inexact", x)[0]
    return 0.5 * lax.erfc(-x / np.asarray(np.sqrt(2), x.dtype))


# Numerators and denominators, the highest power first, of what is left of
# -ndtri(p) - z + log(z) / z, as functions of 1 / z: S. Moshier's Cephes, ndtri.c.
_NEAR = (
    (4.05544892305962419923, 31.5251094599893866154, 57.1628192246421288162)
    + (44.0805073893200834700, 14.6849561928858024014, 2.18663306850790267539)
    + (-0.140256079171354495875, -0.0350424626827848203418, -8.57456785154685413611e-4),
    (1.0, 15.7799883256466749731, 45.3907635128879210584, 41.3172038254672030440)
    + (15.0425385692907503408, 2.50464946208309415979, -0.142182922854787788574)
    + (-0.0380806407691578277194, -9.33259480895457427372e-4),
)
_FAR = (
    (3.23774891776946035970, 6.91522889068984211695, 3.93881025292474443415)
    + (1.33303460815807542389, 0.201485389549179081538, 0.0123716634817820021358)
    + (3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9),
    (1.0, 6.02427039364742014255, 3.67983563856160859403, 1.37702099489081330271)
    + (0.216236993594496635890, 0.0134204006088543189037, 3.28014464682127739104e-4)
    + (2.89247864745380683936e-6, 6.79019408009981274425e-9),
)


def _quotient(x, numerator, denominator):
    def polynomial(coefficients):
        total = jnp.full_like(x, coefficients[0])
        for c in coefficients[1:]:
            total = total * x + x.dtype.type(c)
        return total

    return polynomial(numerator) / polynomial(denominator)


@custom_jvp
def _quantile(p):
    small = jnp.minimum(p, 1 - p)
    far = (small != 0) & (small < 0.05)  # 2 p - 1 has few digits of p there
    middle = np.asarray(np.sqrt(2), p.dtype) * lax.erf_inv(jnp.where(far, 0, 2 * p - 1))
    z = jnp.sqrt(-2 * jnp.log(jnp.where(far, small, 0.01)))
    inverse = 1 / z
    rest = jnp.where(z < 8, _quotient(inverse, *_NEAR), _quotient(inverse, *_FAR))
    tail = jnp.log(z) * inverse - z + rest * inverse
    return jnp.where(far, jnp.where(p < 0.5, tail, -tail), middle).astype(p.dtype)


# Over the density at the quantile.
_quantile.defjvps(lambda t, x, p: t * np.asarray(np.sqrt(2 * np.pi), p.dtype) * jnp.exp(x * x / 2))


@in_one_program()
def ndtri(p):
    """The inverse of the normal distribution function, elementwise: -inf at 0, inf at 1, NaN
    outside.

    Example:
      >>> shardax.scipy.special.ndtri(jnp.array([0.5, 0.975])).round(2)
      Array([0.  , 1.96], dtype=float32)
    """
    p = _core.promote("inexact", p)[0]
    if p.dtype.itemsize < 4:
        return _quantile(p.astype(np.float32)).astype(p.dtype)
    return _quantile(p)
