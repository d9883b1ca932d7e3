# shardax/random/_counts.py - distributions of counts.
import math

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import asarray, check_arraylike, result_type, static_jit
from shardax._devices.out_sharding import takes_out_sharding
from shardax.random._keys import check_key, clone, is_threefry, partitionable, split, subkeys
from shardax.random._parameters import float_dtype, parameter_shape, to_shape
from shardax.random._uniform import draw_uniform


def _count_dtype(name, dtype):
    dtype = _core.canonical_dtype(int) if dtype is None else _core.requested_dtype(dtype, name)
    if not jnp.issubdtype(dtype, np.integer):
        raise ValueError(f"dtype argument to `{name}` must be an int dtype, got {np.dtype(dtype)}")
    return np.dtype(dtype)


def _poisson_small(key, rate, dtype, stream):
    """Knuth's method: how many uniform numbers are multiplied until the product is below
    exp(-rate).
    """

    def draw(state):
        count, key, logs = state
        key, sub = subkeys(key, stream)
        count = jnp.where(logs > -rate, count + 1, count)
        return (
            count,
            key,
            logs
            + jnp.log(
                draw_uniform(sub, 0.0, 1.0, shape=rate.shape, dtype=rate.dtype, stream=stream)
            ),
        )

    start = (jnp.zeros(rate.shape, dtype), key, jnp.zeros_like(rate))
    return lax.while_loop(lambda s: jnp.any(s[2] > -rate), draw, start)[0] - 1


def _poisson_large(key, rate, dtype, stream):
    """Hörmann (1993), "The transformed rejection method for generating Poisson variables"."""
    b = 0.931 + 2.53 * jnp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    inside = 0.9277 - 3.6224 / (b - 2)

    def draw(state):
        out, done, key = state
        key, first, second = subkeys(key, stream, 3)
        u = draw_uniform(first, 0.0, 1.0, shape=rate.shape, dtype=rate.dtype, stream=stream) - 0.5
        v = draw_uniform(second, 0.0, 1.0, shape=rate.shape, dtype=rate.dtype, stream=stream)
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + rate + 0.43)
        density = -rate + k * jnp.log(rate) - lax.lgamma(k + 1)
        likely = jnp.log(v * scale / (a / (edge * edge) + b)) <= density
        impossible = (k < 0) | ((edge < 0.013) & (v > edge))
        accept = ((edge >= 0.07) & (v <= inside)) | (~impossible & likely)
        return jnp.where(accept, k, out), done | accept, key

    start = (jnp.full_like(rate, -1), jnp.zeros(rate.shape, bool), key)
    return lax.while_loop(lambda s: ~jnp.all(s[1]), draw, start)[0].astype(dtype)


@static_jit("shape", "dtype", "stream")
def _poisson(key, rate, shape, dtype, stream):
    rate = _core.broadcast_to(_core.convert(asarray(rate), np.dtype("float32")), shape)
    small = jnp.isnan(rate) | (rate < 10)
    few = _poisson_small(key, jnp.where(small, rate, 0), dtype, stream)
    # Each rate takes a variate of one of them.
    many = _poisson_large(clone(key), jnp.where(small, 1e5, rate), dtype, stream)
    return jnp.where(rate == 0, 0, jnp.where(small, few, many)).astype(dtype)


@takes_out_sharding
def poisson(key, lam, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the Poisson distribution: counts with mean `lam`.

    Args:
      key: a typed or raw key of threefry.
      lam: the mean, a float or an array.
      shape: the shape of the result, to which that of `lam` broadcasts; None: that of `lam`.
      dtype: an integer type; None: int32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Raises:
      NotImplementedError: for keys of other generators.

    Source: Knuth, "The Art of Computer Programming", volume 2; Hörmann, "The transformed rejection
      method for generating Poisson random variables", 1993.

    Example:
      >>> random.poisson(random.key(0), 4.0, (5,))
      Array([0, 1, 5, 5, 2], dtype=int32)
    """
    key = check_key("poisson", key)
    if not is_threefry(key):
        raise NotImplementedError(
            "`poisson` is only implemented for the threefry2x32 RNG, not "
            f"{key.dtype.implementation}"
        )
    dtype = _count_dtype("poisson", dtype)
    check_arraylike("poisson", lam)
    shape = np.shape(lam) if shape is None else to_shape(shape)
    return _poisson(key, lam, shape=shape, dtype=dtype, stream=partitionable())


# ---- counts of trials ----------------------------------------------------------------------------


@static_jit("shape", "dtype", "stream")
def _geometric(key, p, shape, dtype, stream):
    p = _core.promote("inexact", p)[0]
    u = draw_uniform(key, 0.0, 1.0, shape=shape, dtype=np.dtype(p.dtype), stream=stream)
    u = jnp.where(u == 0, 1, u)
    return (jnp.floor(jnp.log(u) / jnp.log1p(-p)) + 1).astype(dtype)


@takes_out_sharding
def geometric(key, p, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the geometric distribution: the number of trials until one succeeds.

    Args:
      key: a typed or raw key.
      p: the probability of success, a float or an array.
      shape: the shape of the result, to which that of `p` broadcasts; None: that of `p`.
      dtype: an integer type; None: int32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.geometric(random.key(0), 0.3, (5,))
      Array([1, 1, 4, 3, 2], dtype=int32)
    """
    key = check_key("geometric", key)
    dtype = _count_dtype("geometric", dtype)
    shape = parameter_shape("geometric", shape, p)
    return _geometric(key, p, shape=shape, dtype=dtype, stream=partitionable())


def _few_successes(key, count, prob, stream):
    """The number of geometric waiting times that fit into `count` trials: for a small count *
    prob."""
    failing = jnp.log1p(-prob)

    def wait(state):
        found, trials, key = state
        sub, key = subkeys(key, stream)
        found = jnp.where(trials <= count, found + 1, found)
        u = draw_uniform(sub, 0.0, 1.0, shape=prob.shape, dtype=prob.dtype, stream=stream)
        return found, trials + jnp.ceil(jnp.log(u) / failing), key

    start = (jnp.zeros_like(prob), jnp.zeros_like(prob), key)
    return lax.while_loop(lambda s: jnp.any(s[1] <= count), wait, start)[0] - 1


# log(k!) - Stirling's approximation of it, for k = 0 ... 9.
_STIRLING_ERRORS = [
    math.lgamma(k + 1) - (0.5 * math.log(2 * math.pi) + (k + 0.5) * math.log(k + 1) - (k + 1))
    for k in range(10)
]


def _stirling_error(k):
    table = np.asarray(_STIRLING_ERRORS, k.dtype)
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    small = jnp.clip(jnp.floor(k), 0, 9).astype(np.int32)
    return jnp.where(k <= 9, asarray(table)[small], series)


def _many_successes(key, count, prob, stream):
    """Hörmann (1993), "The generation of binomial random variates": the algorithm BTRS."""
    deviation = jnp.sqrt(count * prob * (1 - prob))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    inside = 0.92 - 4.2 / b
    odds = prob / (1 - prob)
    alpha = (2.83 + 5.1 / b) * deviation
    m = jnp.floor((count + 1) * prob)

    def draw(state):
        out, done, key = state
        key, first, second = subkeys(key, stream, 3)
        u = draw_uniform(first, 0.0, 1.0, shape=prob.shape, dtype=prob.dtype, stream=stream) - 0.5
        v = draw_uniform(second, 0.0, 1.0, shape=prob.shape, dtype=prob.dtype, stream=stream)
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + (count * prob + 0.5))
        density = (
            (m + 0.5) * jnp.log((m + 1) / (odds * (count - m + 1)))
            + (count + 1) * jnp.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * jnp.log(odds * (count - k + 1) / (k + 1))
            + _stirling_error(m)
            + _stirling_error(count - m)
            - _stirling_error(k)
            - _stirling_error(count - k)
        )
        likely = jnp.log(v * alpha / (a / (edge * edge) + b)) <= density
        possible = (k >= 0) & (k <= count)
        accept = ((edge >= 0.07) & (v <= inside)) | (possible & likely)
        return jnp.where(accept, k, out), done | accept, key

    start = (jnp.full_like(prob, -1), jnp.zeros(prob.shape, bool), key)
    return lax.while_loop(lambda s: ~jnp.all(s[1]), draw, start)[0]


@static_jit("shape", "dtype", "stream")
def _binomial(key, n, p, shape, dtype, stream):
    p = _core.broadcast_to(_core.promote("inexact", p)[0], shape)
    n = _core.broadcast_to(_core.convert(asarray(n), p.dtype), shape)
    rare = p < 0.5
    q = jnp.where(rare, p, 1 - p)  # of whichever outcome is rarer
    no_count, no_chance = jnp.isnan(n) | (n < 0), jnp.isnan(q) | (q < 0)
    q = jnp.where(no_chance, 0.01, q)
    few = no_count | (n * q <= 10)
    count = jnp.floor(n)
    # Each element takes a variate of one of them.
    drawn = jnp.where(
        few,
        _few_successes(key, jnp.where(few, count, 0), q, stream),
        _many_successes(clone(key), jnp.where(few, 1e4, count), jnp.where(few, 0.5, q), stream),
    )
    endless = jnp.isinf(n)
    drawn = jnp.where(endless, jnp.inf, drawn)
    drawn = jnp.where(rare | endless, drawn, count - drawn)
    return jnp.where(no_count | no_chance, jnp.nan, drawn).astype(dtype)


def binomial(key, n, p, shape=None, dtype=None):
    """Draws from the binomial distribution: the number of successes in `n` trials.

    Args:
      key: a typed or raw key.
      n: the number of trials, a number or an array.
      p: the probability of success, a float or an array.
      shape: the shape of the result, to which the parameters broadcast; None: theirs.
      dtype: a floating type; None: float32.

    Returns:
      Floats; NaN where `n` or `p` is out of range.

    Source: Hörmann, "The generation of binomial random variates", 1993.

    Example:
      >>> random.binomial(random.key(0), 10, 0.3, (5,))
      Array([2., 2., 1., 2., 1.], dtype=float32)
    """
    key, dtype = check_key("binomial", key), float_dtype(dtype, "binomial")
    check_arraylike("binomial", n, p)
    shape = parameter_shape("binomial", shape, n, p)
    return _binomial(key, n, p, shape=shape, dtype=dtype, stream=partitionable())


def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1):
    """Draws from the multinomial distribution: how often each of k outcomes comes up in `n` trials.

    Outcomes are drawn one after the other, each a binomial share of the trials that remain.

    Args:
      key: a typed or raw key.
      n: the number of trials, of shape (...).
      p: the probabilities, of shape (..., k).
      shape: the shape of the result; None: that of `p`.
      dtype: a floating type; None: float32.
      unroll: how many outcomes a step of the loop draws.

    Returns:
      Floats of shape (..., k) whose sums are `n`.

    Example:
      >>> random.multinomial(random.key(0), 10, jnp.array([0.2, 0.3, 0.5])).sum()
      Array(10., dtype=float32)
    """
    key = check_key("multinomial", key)
    check_arraylike("multinomial", n, p)
    n, p = _core.promote("inexact", n)[0], _core.promote("inexact", p)[0]
    n, p = (_core.convert(v, result_type(n, p)) for v in (n, p))
    shape = p.shape if shape is None else to_shape(shape)
    n, p = _core.broadcast_to(n, shape[:-1]), _core.broadcast_to(p, shape)
    p = jnp.moveaxis(p, -1, 0)
    rest = lax.cumsum(p, 0, reverse=True)
    shares = p / jnp.where(rest == 0, 1, rest)

    def draw(remaining, step):
        share, key = step
        count = binomial(key, remaining, jnp.clip(share, 0, 1), dtype=remaining.dtype)
        return remaining - count, count

    counts = lax.scan(draw, n, (shares, split(key, shares.shape[0])), unroll=unroll)[1]
    dtype = _core.canonical_dtype(float) if dtype is None else dtype
    return jnp.moveaxis(counts, 0, -1).astype(_core.requested_dtype(dtype, "multinomial"))
