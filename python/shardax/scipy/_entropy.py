"""shardax/scipy/_entropy.py - products with logarithms: entropies, Box and Cox's transforms."""

from functools import partial

from shardax import numpy as jnp
from shardax._base.arrays import in_one_program
from shardax._transform.custom.arguments import SymbolicZero
from shardax._transform.custom.jvp import custom_jvp
from shardax.scipy._promote import promoted, real


def _log_product(x, log_y, y):
    """x * log_y, where log_y is a logarithm of y: 0 where x is 0, but for NaN."""
    return jnp.where((x == 0) & ~jnp.isnan(y), jnp.zeros_like(x), x * log_y)


@custom_jvp
def _xlogy(x, y):
    return _log_product(x, jnp.log(y), y)


@custom_jvp
def _xlog1py(x, y):
    return _log_product(x, jnp.log1p(y), y)


@custom_jvp
def _entr(x):
    return jnp.where(x < 0, -jnp.inf, -_xlogy(x, x))


@custom_jvp
def _positive_rel_entr(p, q):
    return p * (jnp.log(p) - jnp.log(q))


# The slopes of the factors, also where the product is 0 by definition.
_xlogy.defjvps(lambda t, out, x, y: t * jnp.log(y), lambda t, out, x, y: t * (x / y))
_xlog1py.defjvps(lambda t, out, x, y: t * jnp.log1p(y), lambda t, out, x, y: t * (x / (1 + y)))
_entr.defjvps(lambda t, out, x: t * jnp.where(x < 0, 0, -jnp.log(jnp.where(x < 0, 1, x)) - 1))
_positive_rel_entr.defjvps(
    lambda t, out, p, q: t * (jnp.log(p) - jnp.log(q) + 1), lambda t, out, p, q: t * (-p / q)
)


@in_one_program()
def xlogy(x, y):
    """The function x * log(y), elementwise, 0 where x is 0.

    Example:
      >>> shardax.scipy.special.xlogy(jnp.array([0.0, 2.0]), jnp.array([0.0, 1.0]))
      Array([0., 0.], dtype=float32)
    """
    return _xlogy(*promoted(x, y))


@in_one_program()
def xlog1py(x, y):
    """The function x * log1p(y), elementwise, 0 where x is 0.

    Example:
      >>> shardax.scipy.special.xlog1py(jnp.array([0.0, 2.0]), jnp.array([-1.0, 0.0]))
      Array([0., 0.], dtype=float32)
    """
    return _xlog1py(*promoted(x, y))


@in_one_program()
def entr(x):
    """The entropy -x * log(x), elementwise; 0 at 0, -inf below.

    Example:
      >>> shardax.scipy.special.entr(jnp.array([0.0, 0.5, -1.0])).round(3)
      Array([-0.   ,  0.347,   -inf], dtype=float32)
    """
    return _entr(*real("entr", x))


@in_one_program()
def rel_entr(p, q):
    """The relative entropy p * log(p / q), elementwise.

    It is 0 where p is 0 and q is not negative, inf where they are out of range.

    Example:
      >>> shardax.scipy.special.rel_entr(jnp.array([0.0, 0.5]), jnp.array([1.0, 0.25])).round(3)
      Array([0.   , 0.347], dtype=float32)
    """
    p, q = real("rel_entr", p, q)
    both, none = (p > 0) & (q > 0), (p == 0) & (q >= 0)
    safe_p, safe_q = jnp.where(both, p, 1), jnp.where(both, q, 1)
    value = _positive_rel_entr(safe_p, safe_q)
    return jnp.where(both, value, jnp.where(none, 0, jnp.inf)).astype(p.dtype)


@in_one_program()
def kl_div(p, q):
    """The Kullback-Leibler divergence p * log(p / q) - p + q, elementwise.

    Example:
      >>> shardax.scipy.special.kl_div(jnp.array([0.5, 1.0]), 0.25).round(3)
      Array([0.097, 0.636], dtype=float32)
    """
    p, q = real("kl_div", p, q)
    return rel_entr(p, q) - p + q


@partial(custom_jvp, nondiff_argnums=(0,))
def _moment(k, z):
    """The integral of t^k e^(z t) over t from 0 to 1, for a small k."""
    near = jnp.abs(z) < 1
    small = jnp.where(near, z, 0)
    series = jnp.zeros_like(z)
    for j in range(20, -1, -1):
        series = series * small / (j + 1) + 1 / (k + 1 + j)
    if k == 0:
        large = jnp.where(near, 1, z)
        return jnp.where(near, series, jnp.expm1(large) / large)
    if jnp.iscomplexobj(z):
        large = jnp.where(near, 1, z)
        moment = jnp.expm1(large) / large
        for n in range(1, k + 1):
            moment = (jnp.exp(large) - n * moment) / large
        return jnp.where(near, series, moment)
    # By parts, over e^z where that overflows.
    up, down = jnp.where(z >= 1, z, 1), jnp.where(z <= -1, z, -1)
    rising, falling = -jnp.expm1(-up) / up, jnp.expm1(down) / down
    for n in range(1, k + 1):
        rising, falling = (1 - n * rising) / up, (jnp.exp(down) - n * falling) / down
    return jnp.where(near, series, jnp.where(z > 0, jnp.exp(up) * rising, falling))


@_moment.defjvp
def _moment_slope(k, primals, tangents):
    return _moment(k, *primals), tangents[0] * _moment(k + 1, *primals)


@custom_jvp
def _boxcox(x, lmbda):
    return _power_of(jnp.log(x), lmbda)


@custom_jvp
def _boxcox1p(x, lmbda):
    return _power_of(jnp.log1p(x), lmbda)


def _power_of(log, lmbda):
    """expm1(lmbda * log) / lmbda, log where lmbda is 0."""
    zero = lmbda == 0
    safe = jnp.where(zero, 1, lmbda)
    return jnp.where(zero, log, jnp.expm1(safe * log) / safe)


def _power(x, lmbda):
    inside = True if jnp.iscomplexobj(x) else x >= 0
    return jnp.where(inside, x, jnp.nan) ** (lmbda - 1)


def _power1p(x, lmbda):
    end = x == -1
    inside = jnp.exp((lmbda - 1) * jnp.log1p(jnp.where(end, 0, x)))
    return jnp.where(end, jnp.where(end, 0.0, 1.0) ** (lmbda - 1), inside).astype(inside.dtype)


def _boxcox_slopes(log, power, x, lmbda, tangents):
    """The tangent of a transform; a slope that overflows is no factor of zero."""
    by_x, by_lmbda = (type(t) is not SymbolicZero for t in tangents)
    total = jnp.zeros_like(x * lmbda)
    if by_x:
        total = total + tangents[0] * power(x, lmbda)
    if by_lmbda:
        total = total + tangents[1] * log(x) ** 2 * _moment(1, lmbda * log(x))
    return total


@partial(_boxcox.defjvp, symbolic_zeros=True)
def _boxcox_rule(primals, tangents):
    return _boxcox(*primals), _boxcox_slopes(jnp.log, _power, *primals, tangents)


@partial(_boxcox1p.defjvp, symbolic_zeros=True)
def _boxcox1p_rule(primals, tangents):
    return _boxcox1p(*primals), _boxcox_slopes(jnp.log1p, _power1p, *primals, tangents)


@in_one_program()
def boxcox(x, lmbda):
    """The transformation of Box and Cox, elementwise: (x^lmbda - 1) / lmbda; log(x) where lmbda is
    0.

    Example:
      >>> shardax.scipy.special.boxcox(jnp.array([1.0, 4.0]), 0.5)
      Array([0., 2.], dtype=float32)
    """
    return _boxcox(*promoted(x, lmbda))


@in_one_program()
def boxcox1p(x, lmbda):
    """The transformation `boxcox` of 1 + x, elementwise, exact for small x.

    Example:
      >>> shardax.scipy.special.boxcox1p(jnp.array([0.0, 3.0]), 0.5)
      Array([0., 2.], dtype=float32)
    """
    return _boxcox1p(*promoted(x, lmbda))
