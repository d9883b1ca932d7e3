"""shardax.scipy.stats.gennorm - the generalised normal distribution."""

from shardax import lax
from shardax import numpy as jnp
from shardax._transform.custom.jvp import custom_jvp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact


def logpdf(x, beta):
    """The logarithm of the density."""
    x, beta = inexact(x, beta)
    return jnp.log(0.5 * beta) - special.gammaln(1 / beta) - jnp.abs(x) ** beta


def pdf(x, beta):
    """The density."""
    return jnp.exp(logpdf(x, beta))


@custom_jvp
def _cdf(x, beta):
    return 0.5 * (1 + jnp.sign(x) * special.gammainc(1 / beta, jnp.abs(x) ** beta))


def _cdf_by_beta(t, out, x, beta):
    a, size = 1 / beta, jnp.abs(x)
    z = size**beta
    # What z changes: its density, in which powers of |x| are left that may under- or overflow.
    moved = special.xlogy(size, size) * jnp.exp(-z - special.gammaln(a))
    moved = jnp.where(jnp.isinf(z), 0, moved)
    return t * 0.5 * jnp.sign(x) * (moved - a * a * lax.igamma_grad_a(a, z))


# By x the density, also at 0 and infinity.
_cdf.defjvps(lambda t, out, x, beta: t * pdf(x, beta), _cdf_by_beta)


def cdf(x, beta):
    """The probability of values up to x."""
    return _cdf(*inexact(x, beta))
