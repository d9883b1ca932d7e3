"""shardax/scipy/_entropy.py - products with logarithms: entropies, Box and Cox's transforms."""

import shardax._core as _core
from shardax import numpy as jnp
from shardax._base.arrays import in_one_program
from shardax._transform.custom_jvp import custom_jvp


def _inexact(*args):
    return _core.promote("inexact", *args)


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
_entr.defjvps(lambda t, out, x: t * (-jnp.log(x) - 1))
_positive_rel_entr.defjvps(
    lambda t, out, p, q: t * (jnp.log(p) - jnp.log(q) + 1), lambda t, out, p, q: t * (-p / q)
)


@in_one_program()
def xlogy(x, y):
    """x * log(y), 0 where x is 0."""
    return _xlogy(*_inexact(x, y))


@in_one_program()
def xlog1py(x, y):
    """x * log1p(y), 0 where x is 0."""
    return _xlog1py(*_inexact(x, y))


@in_one_program()
def entr(x):
    """-x * log(x); 0 at 0, -inf below."""
    return _entr(_inexact(x)[0])


@in_one_program()
def rel_entr(p, q):
    """p * log(p / q); 0 where p is 0 and q is not negative, inf where they are out of range."""
    p, q = _inexact(p, q)
    both, none = (p > 0) & (q > 0), (p == 0) & (q >= 0)
    safe_p, safe_q = jnp.where(both, p, 1), jnp.where(both, q, 1)
    value = _positive_rel_entr(safe_p, safe_q)
    return jnp.where(both, value, jnp.where(none, 0, jnp.inf)).astype(p.dtype)


@in_one_program()
def kl_div(p, q):
    """p * log(p / q) - p + q."""
    p, q = _inexact(p, q)
    return rel_entr(p, q) - p + q


@in_one_program()
def boxcox(x, lmbda):
    """(x^lmbda - 1) / lmbda; log(x) where lmbda is 0."""
    x, lmbda = _inexact(x, lmbda)
    zero = lmbda == 0
    safe = jnp.where(zero, 1, lmbda)
    return jnp.where(zero, jnp.log(x), jnp.expm1(safe * jnp.log(x)) / safe)


@in_one_program()
def boxcox1p(x, lmbda):
    """boxcox(1 + x, lmbda), exact for small x."""
    x, lmbda = _inexact(x, lmbda)
    zero = lmbda == 0
    safe = jnp.where(zero, 1, lmbda)
    return jnp.where(zero, jnp.log1p(x), jnp.expm1(safe * jnp.log1p(x)) / safe)
