# shardax/random/_gamma.py - the gamma distribution and those made of it.
import math
import operator

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import asarray, bind, operand_of, static_jit
from shardax._devices.out_sharding import takes_out_sharding
from shardax._transform.custom.vmap import custom_vmap
from shardax._transform.pmap_vmap import vmap
from shardax.numpy._elementwise.exponentials import softmax
from shardax.random._continuous import draw_exponential, exponential, rademacher
from shardax.random._keys import check_key, is_drawn_together, partitionable, split_key, subkeys
from shardax.random._parameters import (
    check_numbers,
    check_parameters,
    drawn_shape,
    float_dtype,
    parameter_shape,
    to_shape,
)
from shardax.random._uniform import draw_normal, draw_uniform, normal


def _gamma_element(key, alpha, log_space, stream):
    """One gamma variate.

    Marsaglia and Tsang (2000), "A simple method for generating gamma variables". d v, with d =
    alpha - 1/3 and v = (1 + x / sqrt(9 d))^3 of a normal x, is rejected or taken. A variate for
    alpha < 1 is one for alpha + 1 times u^(1 / alpha).
    """
    dtype = alpha.dtype
    number = lambda v: np.asarray(v, dtype)  # noqa: E731
    large = _core.functions.greater_equal(alpha, number(1))
    raised = jnp.where(large, alpha, alpha + number(1))
    d = raised - number(1 / 3)
    c = number(1 / 3) / _core.functions.sqrt(d)

    def rejected(state):
        _, square, v, u = state
        outside = u >= number(1) - number(0.0331) * (square * square)
        bound = square * number(0.5) + d * (number(1) - v + _core.functions.log(v))
        return _core.functions.logical_and(outside, _core.functions.log(u) >= bound)

    def candidate(state):
        key, x, _ = state
        key, sub = subkeys(key, stream)
        x = draw_normal(sub, shape=(), dtype=dtype, stream=stream)
        return key, x, number(1) + x * c

    def attempt(state):
        key, x_key, u_key = subkeys(state[0], stream, 3)
        start = (x_key, jnp.zeros_like(alpha), jnp.full_like(alpha, -1))
        _, x, v = lax.while_loop(lambda s: s[2] <= number(0), candidate, start)
        u = draw_uniform(u_key, 0.0, 1.0, shape=(), dtype=dtype, stream=stream)
        return key, x * x, v * v * v, u

    key, sub = subkeys(key, stream)
    start = (key, jnp.zeros_like(alpha), jnp.ones_like(alpha), jnp.full_like(alpha, 2))
    v = lax.while_loop(rejected, attempt, start)[2]
    if log_space:
        small = -draw_exponential(sub, shape=(), dtype=dtype, stream=stream)
        boost = jnp.where(
            _core.functions.logical_or(large, small == 0), number(0), small * (number(1) / alpha)
        )
        return _core.functions.log(d) + _core.functions.log(v) + boost
    u = number(1) - draw_uniform(sub, 0.0, 1.0, shape=(), dtype=dtype, stream=stream)
    return d * v * jnp.where(large, number(1), _core.functions.power(u, number(1) / alpha))


def _one_by_one(log_space, stream):
    """Variates of keys whose draws are not those of each key under vmap: element after element, in
    mapped functions, too. The shape of the keys begins that of the parameters.
    """

    def draw(keys, alpha):
        count = math.prod(alpha.shape[keys.ndim :])
        flat = keys.reshape((-1,))
        if keys.ndim:
            split = vmap(lambda key: split_key(key, (count,), stream))(flat).reshape((-1,))
        else:
            split = split_key(keys, (count,), stream)
        items = split, alpha.reshape((-1,))
        drawn = lax.map(lambda item: _gamma_element(*item, log_space, stream), items)
        return drawn.reshape(alpha.shape)

    mapped = custom_vmap(draw)

    @mapped.def_vmap
    def rule(size, batched, keys, alpha):
        whole = (
            v if is_batched else _core.broadcast_to(v, (size, *v.shape))
            for v, is_batched in zip((keys, alpha), batched, strict=True)
        )
        return _one_by_one(log_space, stream)(*whole), True

    return mapped


@static_jit("shape", "dtype", "log_space", "stream")
def _gamma(key, alpha, shape, dtype, log_space, stream):
    alpha = _core.broadcast_to(_core.convert(asarray(alpha), dtype), shape)
    if not alpha.size:
        return alpha
    still = lax.stop_gradient(alpha)
    if is_drawn_together(key):
        drawn = _one_by_one(log_space, stream)(key, still)
    else:
        keys, flat = split_key(key, (alpha.size,), stream), still.reshape((-1,))
        drawn = vmap(lambda k, a: _gamma_element(k, a, log_space, stream))(keys, flat)
    drawn = drawn.reshape(shape)
    return bind("gamma_variate", (alpha, drawn), log_space=log_space)


@takes_out_sharding
def gamma(key, a, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the gamma distribution with scale 1, density proportional to x^(a-1) e^-x.

    The derivative by `a` is that of the draw at a fixed quantile.

    Args:
      key: a typed or raw key.
      a: the shape parameter > 0, a float or an array.
      shape: the shape of the result, to which that of `a` broadcasts; None: that of `a`.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Source: Marsaglia, Tsang, "A simple method for generating gamma variables", 2000.

    Example:
      >>> random.gamma(random.key(0), 2.0, (3,)).round(1)
      Array([1.6, 1.8, 1.1], dtype=float32)
    """
    key, dtype = check_key("gamma", key), float_dtype(dtype, "gamma")
    check_numbers("gamma", a)
    shape = parameter_shape("gamma", shape, a)
    return _gamma(key, a, shape=shape, dtype=dtype, log_space=False, stream=partitionable())


@takes_out_sharding
def loggamma(key, a, shape=None, dtype=None, *, out_sharding=None):
    """Logarithms of draws from the gamma distribution, exact where those would be too small.

    Arguments are those of `random.gamma`.

    Example:
      >>> jnp.isfinite(random.loggamma(random.key(0), 1e-3, (3,)))
      Array([ True,  True,  True], dtype=bool)
    """
    key, dtype = check_key("loggamma", key), float_dtype(dtype, "gamma")
    check_numbers("loggamma", a)
    shape = parameter_shape("loggamma", shape, a)
    return _gamma(key, a, shape=shape, dtype=dtype, log_space=True, stream=partitionable())


@takes_out_sharding
def beta(key, a, b, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the beta distribution: the share of one of two gamma variates in their sum.

    Args:
      key: a typed or raw key.
      a, b: the parameters > 0, floats or arrays that broadcast.
      shape: the shape of the result, to which the parameters broadcast; None: theirs.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.beta(random.key(0), 2.0, 3.0, (3,)).round(1)
      Array([0.2, 0.5, 0.7], dtype=float32)
    """
    key, dtype = check_key("beta", key), float_dtype(dtype, "beta")
    check_parameters("beta", dtype, a, b)
    shape = parameter_shape("beta", shape, a, b)
    first, second = subkeys(key, partitionable())
    x, y = loggamma(first, a, shape, dtype), loggamma(second, b, shape, dtype)
    top = jnp.maximum(x, y)
    x, y = jnp.exp(x - top), jnp.exp(y - top)
    return x / (x + y)


@takes_out_sharding
def dirichlet(key, alpha, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the Dirichlet distribution: vectors of positive numbers whose sum is 1.

    Args:
      key: a typed or raw key.
      alpha: the parameters > 0, of shape (..., n).
      shape: the shape of the result without the last dimension; None: that of `alpha`.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      Floats of shape (*shape, n).

    Example:
      >>> random.dirichlet(random.key(0), jnp.ones(3), (2,)).sum(axis=1).round(3)
      Array([1., 1.], dtype=float32)
    """
    key, dtype = check_key("dirichlet", key), float_dtype(dtype, "dirichlet")
    alpha = operand_of("dirichlet", alpha)
    if alpha.ndim < 1:
        raise ValueError(f"dirichlet requires alpha.ndim >= 1, got alpha.ndim == {alpha.ndim}")
    shape = (
        alpha.shape[:-1]
        if shape is None
        else drawn_shape("dirichlet", to_shape(shape), alpha.shape[:-1])
    )
    return softmax(loggamma(key, alpha, shape + alpha.shape[-1:], dtype), -1)


@takes_out_sharding
def chisquare(key, df, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the chi-square distribution: the sum of squares of `df` normal variates.

    Args:
      key: a typed or raw key.
      df: the degrees of freedom, a float or an array.
      shape: the shape of the result, to which that of `df` broadcasts; None: that of `df`.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.chisquare(random.key(0), 3.0, (3,)).round(1)
      Array([2.2, 2.5, 1.5], dtype=float32)
    """
    key, dtype = check_key("chisquare", key), float_dtype(dtype, "chisquare")
    check_parameters("chisquare", dtype, df)
    half = _core.convert(asarray(df), dtype) / 2
    return 2 * jnp.exp(loggamma(key, half, shape, dtype))


@takes_out_sharding
def f(key, dfnum, dfden, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the F distribution: the quotient of two chi-square variates, each over its degrees
    of freedom.

    Args:
      key: a typed or raw key.
      dfnum, dfden: the degrees of freedom, floats or arrays that broadcast.
      shape: the shape of the result, to which the parameters broadcast; None: theirs.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.f(random.key(0), 3.0, 5.0, (3,)).round(1)
      Array([2.6, 0.2, 0.2], dtype=float32)
    """
    key, dtype = check_key("f", key), float_dtype(dtype, "f")
    check_parameters("f", dtype, dfnum, dfden)
    shape = parameter_shape("f", shape, dfnum, dfden)
    dfnum, dfden = (_core.convert(asarray(v), dtype) for v in (dfnum, dfden))
    below, above = subkeys(key, partitionable())
    numerator = chisquare(above, dfnum, shape, dtype) / dfnum
    return numerator / (chisquare(below, dfden, shape, dtype) / dfden)


@takes_out_sharding
def t(key, df, shape=None, dtype=None, *, out_sharding=None):
    """Draws from Student's t distribution.

    Args:
      key: a typed or raw key.
      df: the degrees of freedom, a float or an array.
      shape: the shape of the result, to which that of `df` broadcasts; None: that of `df`.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Source: Student, "The probable error of a mean", 1908.

    Example:
      >>> random.t(random.key(0), 5.0, (3,)).round(1)
      Array([ 0.8, -2.1, -1.3], dtype=float32)
    """
    key, dtype = check_key("t", key), float_dtype(dtype, "t")
    check_parameters("t", dtype, df)
    shape = parameter_shape("t", shape, df)
    first, second = subkeys(key, partitionable())
    half = _core.convert(asarray(df), dtype) / 2
    return normal(first, shape, dtype) * jnp.sqrt(half / gamma(second, half, shape, dtype))


@takes_out_sharding
def generalized_normal(key, p, shape=(), dtype=None, *, out_sharding=None):
    """Draws from the distribution with density proportional to exp(-|x|^p).

    Args:
      key: a typed or raw key.
      p: the exponent > 0, a float: 1 is Laplace's distribution, 2 a normal one.
      shape: a tuple of ints.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.generalized_normal(random.key(0), 4.0, (3,)).round(1)
      Array([ 0.9,  0.1, -0.9], dtype=float32)
    """
    key, dtype, shape = (
        check_key("generalized_normal", key),
        float_dtype(dtype, "generalized_normal"),
        to_shape(shape),
    )
    check_numbers("generalized_normal", p)
    first, second = subkeys(key, partitionable())
    power = 1 / asarray(p)  # infinite for 0, also of Python's numbers
    return rademacher(second, shape, dtype) * gamma(first, power, shape, dtype) ** power


@takes_out_sharding
def ball(key, d, p=2, shape=(), dtype=None, *, out_sharding=None):
    """Uniformly distributed points in the unit ball of a p-norm.

    Args:
      key: a typed or raw key.
      d: the number of dimensions, an int.
      p: the exponent of the norm.
      shape: a tuple of ints.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      Floats of shape (*shape, d).

    Source: Barthe, Guédon, Mendelson, Naor, "A probabilistic approach to the geometry of the
      l_p^n-ball", 2005.

    Example:
      >>> points = random.ball(random.key(0), 3, shape=(5,))
      >>> points.shape, jnp.all(jnp.linalg.norm(points, axis=1) <= 1)
      ((5, 3), Array(True, dtype=bool))
    """
    key, dtype, shape = check_key("ball", key), float_dtype(dtype, "ball"), to_shape(shape)
    first, second = subkeys(key, partitionable())
    g = generalized_normal(first, p, (*shape, operator.index(d)), dtype)
    e = exponential(second, shape, dtype)
    return g / ((jnp.sum(jnp.abs(g) ** p, -1) + e) ** (1 / asarray(p)))[..., None]
