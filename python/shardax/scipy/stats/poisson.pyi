"""Written by python/stubs.py."""

from typing import Any

from shardax._core import Array
from shardax.typing import ArrayLike

def cdf(k: Any, mu: Any, loc: ArrayLike = 0) -> Array:
    """The cumulative distribution function of the Poisson distribution: the probability of values up to k, elementwise."""
def entropy(mu: Any, loc: ArrayLike = 0) -> Array:
    """The entropy of the Poisson distribution, elementwise."""
def logpmf(k: Any, mu: Any, loc: ArrayLike = 0) -> Array:
    """The logarithms of probabilities of the Poisson distribution, elementwise."""
def pmf(k: Any, mu: Any, loc: ArrayLike = 0) -> Array:
    """The probabilities of the Poisson distribution, elementwise."""
