"""Written by python/stubs.py."""

from typing import Any

from shardax._core import Array
from shardax.typing import ArrayLike

def cdf(x: ArrayLike, beta: Any) -> Array:
    """The cumulative distribution function of the generalized normal distribution: the probability of values up to x, elementwise."""
def logpdf(x: ArrayLike, beta: Any) -> Array:
    """The logarithm of the density of the generalized normal distribution, elementwise."""
def pdf(x: ArrayLike, beta: Any) -> Array:
    """The density of the generalized normal distribution, elementwise."""
