"""Written by python/stubs.py."""

from typing import Any

from shardax._core import Array
from shardax.typing import ArrayLike

def logpmf(x: ArrayLike, n: Any, p: ArrayLike) -> Array:
    """The logarithms of probabilities of the multinomial distribution."""
def pmf(x: ArrayLike, n: Any, p: ArrayLike) -> Array:
    """The probabilities of the multinomial distribution."""
