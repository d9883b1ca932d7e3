"""shardax/scipy/_harmonics.py - spherical harmonics, functions of Legendre and Bessel of whole
orders, and the numbers of Bernoulli.
"""

import operator

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import static_jit
from shardax._transform.avals import concrete_or_error


def _legendre_steps(m, x, sine, l_max, normalized):
    """P_l^m(x) for l = 0 ... l_max along a new axis 0, by the recurrence in l from P_m^m.

    `m` (not negative) and x have shapes that go together; `sine` is sqrt(1 - x^2).
    `normalized`: with the factor that makes spherical harmonics orthonormal.
    """
    k = np.arange(1.0, l_max + 1)
    steps = -np.sqrt(1 + 0.5 / k) if normalized else 1 - 2 * k
    start = np.sqrt(0.25 / np.pi) if normalized else 1.0
    diagonal = np.concatenate([[start], start * np.cumprod(steps)])
    # At order 0 for any sine: beyond 1 it is NaN.
    powers = jnp.where(m == 0, 1, sine) ** m
    first = jnp.take(jnp.asarray(diagonal, x.dtype), m, mode="clip") * powers
    order = m.astype(x.dtype)

    def step(carry, degree):
        before, last = carry
        if normalized:
            room = jnp.where(degree > order, degree**2 - order**2, 1)
            # Not the root of -1 at degree 0, whose NaN would be a factor of cotangents.
            up = jnp.sqrt(jnp.abs(4 * degree**2 - 1) / room)
            rest = jnp.maximum((degree - 1) ** 2 - order**2, 0)
            safe = jnp.where(rest > 0, rest, 1)
            down = jnp.sqrt((2 * degree + 1) * safe / (jnp.abs(2 * degree - 3) * room))
            down = jnp.where(rest > 0, down, 0)
        else:
            room = jnp.where(degree > order, degree - order, 1)
            up, down = (2 * degree - 1) / room, (degree + order - 1) / room
        value = jnp.where(degree > order, up * x * last - down * before, 0)
        value = jnp.where(degree == order, first, value)
        return (last, value), value

    zero = jnp.zeros_like(first)
    return lax.scan(step, (zero, zero), jnp.arange(l_max + 1, dtype=x.dtype))[1]


def sph_harm_y(n, m, theta, phi, diff_n=None, n_max=None):
    """Spherical harmonics Y_n^m at polar angles `theta` in [0, pi] and azimuths `phi`.

    Args:
      n, m: arrays of degrees (not negative) and orders, |m| <= n.
      theta, phi: angles, arrays of the same shape.
      diff_n: not available.
      n_max: the largest degree; larger ones are clipped. Needed where `n` is not known.

    Returns:
      A complex array. (DLMF 14.30; the recurrence is that of normalized Legendre functions.)

    >>> n, m, theta, phi = jnp.array([0]), jnp.array([0]), jnp.array([0.3]), jnp.array([0.1])
    >>> shardax.scipy.special.sph_harm_y(n, m, theta, phi)
    Array([0.2820948+0.j], dtype=complex64)
    """
    if diff_n is not None:
        raise NotImplementedError(
            "The 'diff_n' argument to jax.scipy.special.sph_harm_y is not supported."
        )
    message = (
        "The `n_max` argument of `jnp.scipy.special.sph_harm` must be statically specified to use "
        "`sph_harm` within JAX transformations."
    )
    n_max = concrete_or_error(int, np.max(n) if n_max is None else n_max, message)
    n, m = jnp.asarray(n), jnp.asarray(m)
    theta, phi = _core.promote("inexact", jnp.atleast_1d(theta), phi)
    return _harmonics(n, m, theta, phi, n_max)


@static_jit("n_max")
def _harmonics(n, m, theta, phi, n_max):
    order = jnp.abs(m)
    kept = jnp.minimum(order, n_max)
    values = _legendre_steps(
        kept, *jnp.broadcast_arrays(jnp.cos(theta), jnp.abs(jnp.sin(theta)), order)[:2], n_max, True
    )
    value = jnp.take_along_axis(values, jnp.clip(n, 0, n_max)[None], 0)[0]
    angle = order * phi
    harmonic = lax.complex(value * jnp.cos(angle), value * jnp.sin(angle))
    sign = jnp.where(order % 2 == 0, 1, -1)
    return jnp.where(m < 0, sign * jnp.conj(harmonic), harmonic)


def _checked_points(name, m, n, z):
    z = jnp.asarray(z)
    if z.dtype not in (np.float32, np.float64):
        raise TypeError(f"z.dtype={z.dtype} is not supported, see docstring for supported types.")
    if z.ndim != 1:
        raise ValueError("z must be a 1D array.")
    m = concrete_or_error(int, m, f"Argument m of {name}.")
    n = concrete_or_error(int, n, f"Argument n of {name}.")
    if m != n:
        raise NotImplementedError("Computations for m!=n are not yet supported.")
    return z, n


def lpmn_values(m, n, z, is_normalized):
    """Legendre functions of the first kind of all orders and degrees up to n = m, at points.

    Args:
      m, n: the largest order and degree, the same int.
      z: a vector of points in (-1, 1).
      is_normalized: whether functions are those of normalized spherical harmonics.

    Returns:
      An array of shape (n + 1, n + 1, len(z)): by order, by degree.

    Example:
      >>> shardax.scipy.special.lpmn_values(1, 1, jnp.array([0.5]), is_normalized=False)[0, :, 0]
      Array([1. , 0.5], dtype=float32)
    """
    z, n = _checked_points("lpmn", m, n, z)
    orders = jnp.arange(n + 1)[:, None]
    values = _legendre_steps(orders, z[None], jnp.sqrt(1 - z * z)[None], n, bool(is_normalized))
    return jnp.moveaxis(values, 0, 1)


def lpmn(m, n, z):
    """Legendre functions of the first kind, as `lpmn_values`, and their derivatives by z.

    Example:
      >>> values, slopes = shardax.scipy.special.lpmn(1, 1, jnp.array([0.5]))
      >>> values.shape, slopes.shape
      ((2, 2, 1), (2, 2, 1))
    """
    values = lpmn_values(m, n, z, False)
    z = jnp.asarray(z)
    degree = jnp.arange(values.shape[1], dtype=z.dtype)[:, None]
    order = jnp.arange(values.shape[0], dtype=z.dtype)[:, None, None]
    below = jnp.concatenate([jnp.zeros_like(values[:, :1]), values[:, :-1]], axis=1)
    return values, (degree * z * values - (degree + order) * below) / (z * z - 1)


def bessel_jn(z, *, v, n_iter=50):
    """Bessel functions of the first kind J_0 ... J_v at real numbers, by Miller's backward
    recurrence.

    Args:
      z: real numbers of any shape.
      v: the largest order, an int.
      n_iter: where the recurrence starts; enough where n_iter is well above |z| and v.

    Returns:
      An array of shape (v + 1, *z.shape).

    Source: Zhang, Jin, "Computation of special functions", 1996, chapter 5.

    Example:
      >>> shardax.scipy.special.bessel_jn(jnp.float32(1.0), v=1).round(3)
      Array([0.765, 0.44 ], dtype=float32)
    """
    z = _core.promote("inexact", z)[0]
    if z.dtype.kind == "c":
        raise ValueError("complex input not supported.")
    v = concrete_or_error(operator.index, v, "Argument v of bessel_jn.")
    n_iter = concrete_or_error(int, n_iter, "Argument n_iter of bessel_jn.")
    return _miller(z, v, n_iter)


@static_jit("v", "n_iter")
def _miller(z, v, n_iter):
    zero = z == 0
    safe = jnp.where(zero, 1, z)
    large = np.asarray(1e12, z.dtype)

    def step(carry, k):
        above, last, total = carry
        value = 2 * (k + 1) * last / safe - above
        # A factor on all that was computed so far, which keeps it finite.
        shrink = lax.stop_gradient(jnp.where(jnp.abs(value) > large, 1 / large, 1))
        total = total + jnp.where(k % 2 == 0, 2 * value, 0)
        return (last * shrink, value * shrink, total * shrink), (value, shrink)

    start = jnp.full_like(z, 1e-16)
    orders = jnp.arange(n_iter + 1, dtype=z.dtype)
    (_, last, total), (values, shrinks) = lax.scan(
        step, (jnp.zeros_like(z), start, jnp.zeros_like(z)), orders, reverse=True
    )
    scale = lax.cumprod(shrinks, axis=0)  # the later steps' and its own
    values = (values * scale)[: v + 1] / (total - last)
    at_zero = (orders[: v + 1] == 0).astype(z.dtype).reshape(-1, *[1] * z.ndim)
    return jnp.where(zero, at_zero, values)


def bernoulli(n):
    """The Bernoulli numbers B_0 ... B_n, with B_1 = -1/2, as n + 1 floats.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 23.2.16.

    Example:
      >>> shardax.scipy.special.bernoulli(4).round(3)
      Array([ 1.   , -0.5  ,  0.167,  0.   , -0.033], dtype=float32)
    """
    n = concrete_or_error(operator.index, n, "Argument n of bernoulli")
    if n < 0:
        raise ValueError("n must be a non-negative integer.")
    k = np.arange(n + 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        growth = np.cumprod(np.where(k > 0, k / (2 * np.pi), 1))
        zeta = np.sum(np.arange(1.0, 2000)[:, None] ** -np.maximum(k, 2), axis=0)
        sign = np.where(k % 4 == 0, -2, 2)
        numbers = np.where(k % 2 == 0, sign * growth * zeta, 0)
    first = [1, -1 / 2, 1 / 6, 0, -1 / 30][: n + 1]
    numbers[: len(first)] = first
    return jnp.asarray(numbers, _core.canonical_dtype(float))
