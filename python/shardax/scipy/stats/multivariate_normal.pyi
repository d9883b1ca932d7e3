"""Written by python/stubs.py."""

from typing import Any

from shardax._core import Array
from shardax.typing import ArrayLike

def logpdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: Any = None) -> Array:
    """The logarithm of the density of the multivariate normal distribution."""
def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
    """The density of the multivariate normal distribution."""
