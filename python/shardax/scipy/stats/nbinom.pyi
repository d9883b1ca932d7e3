"""Written by python/stubs.py."""

from typing import Any

from shardax._core import Array
from shardax.typing import ArrayLike

def logpmf(k: Any, n: Any, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The logarithms of probabilities of the negative binomial distribution, elementwise."""
def pmf(k: Any, n: Any, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The probabilities of the negative binomial distribution, elementwise."""
