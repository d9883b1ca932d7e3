"""Written by python/stubs.py."""

from typing import Any

from shardax._core import Array
from shardax.typing import ArrayLike

def cdf(k: Any, p: ArrayLike) -> Array:
    """The cumulative distribution function of the Bernoulli distribution: the probability of values up to k, elementwise."""
def logpmf(k: Any, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The logarithms of probabilities of the Bernoulli distribution, elementwise."""
def pmf(k: Any, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The probabilities of the Bernoulli distribution, elementwise."""
def ppf(q: ArrayLike, p: ArrayLike) -> Array:
    """The quantiles of the Bernoulli distribution: the inverse of `cdf`, elementwise."""
