"""shardax.scipy.special - special functions."""

import numpy as np

from shardax import _core, lax
from shardax import numpy as jnp
from shardax.numpy._common import asarray


def _inexact(*args):
    return _core.promote("inexact", *args)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """log(sum(b * exp(a))) over `axis` without overflow.

    With return_sign, (log of the size, sign).
    """
    a = _inexact(a)[0] if b is None else _inexact(a, b)[0]
    if b is not None:
        a = jnp.where(asarray(b) != 0, a, -jnp.inf)
    if where is not None:
        a = jnp.where(where, a, -jnp.inf)
    top = jnp.max(a, axis, keepdims=True)
    top = lax.stop_gradient(jnp.where(jnp.isfinite(top), top, jnp.zeros_like(top)))
    terms = jnp.exp(a - top)
    terms = terms if b is None else terms * b
    total = jnp.sum(terms, axis, keepdims=keepdims)
    sign = jnp.sign(total)
    size = jnp.abs(total) if return_sign or b is not None else total
    out = jnp.log(size) + (top if keepdims else top.reshape(size.shape))
    if return_sign:
        return out, sign
    return out if b is None else jnp.where(sign < 0, jnp.nan, out)


def erf(x):
    """The error function."""
    return lax.erf(_inexact(x)[0])


def erfc(x):
    """1 - erf(x)."""
    return lax.erfc(_inexact(x)[0])


def erfinv(x):
    """The inverse of erf."""
    return lax.erf_inv(_inexact(x)[0])


def expit(x):
    """1 / (1 + exp(-x))."""
    return lax.logistic(_inexact(x)[0])


def logit(x):
    """log(x / (1 - x))."""
    x = _inexact(x)[0]
    return jnp.log(x / (1 - x))


def gammaln(x):
    """The logarithm of the gamma function."""
    return lax.lgamma(_inexact(x)[0])


def digamma(x):
    """The derivative of gammaln."""
    return lax.digamma(_inexact(x)[0])


def gammainc(a, x):
    """The regularized lower incomplete gamma function."""
    return lax.igamma(*_inexact(a, x))


def gammaincc(a, x):
    """1 - gammainc(a, x)."""
    return lax.igammac(*_inexact(a, x))


def betainc(a, b, x):
    """The regularized incomplete beta function."""
    return lax.betainc(*_inexact(a, b, x))


def xlogy(x, y):
    """x * log(y), 0 where x is 0."""
    x, y = _inexact(x, y)
    nothing = (x == 0) & ~(y > 0)
    return jnp.where(nothing, jnp.zeros_like(x), x * jnp.log(jnp.where(nothing, 1, y)))


def xlog1py(x, y):
    """x * log1p(y), 0 where x is 0."""
    x, y = _inexact(x, y)
    nothing = (x == 0) & ~(y > -1)
    return jnp.where(nothing, jnp.zeros_like(x), x * jnp.log1p(jnp.where(nothing, 0, y)))


def entr(x):
    """-x * log(x); 0 at 0, -inf below."""
    x = _inexact(x)[0]
    return jnp.where(x < 0, -jnp.inf, -xlogy(x, x))


def ndtr(x):
    """The cumulative distribution of the standard normal."""
    x = _inexact(x)[0]
    return 0.5 * lax.erfc(-x / np.asarray(np.sqrt(2), x.dtype))


def ndtri(p):
    """The inverse of ndtr."""
    p = _inexact(p)[0]
    return np.asarray(np.sqrt(2), p.dtype) * lax.erf_inv(2 * p - 1)


def log_softmax(x, axis=None):
    """x - logsumexp(x) along `axis`."""
    x = _inexact(x)[0]
    return x - logsumexp(x, axis, keepdims=True)


def softmax(x, axis=None):
    """exp(x) over its sum along `axis`."""
    return jnp.exp(log_softmax(x, axis))
