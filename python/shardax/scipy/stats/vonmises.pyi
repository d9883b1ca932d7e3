"""Written by python/stubs.py."""

from typing import Any

from shardax._core import Array
from shardax.typing import ArrayLike

def logpdf(x: ArrayLike, kappa: Any) -> Array:
    """The logarithm of the density of the von Mises distribution, elementwise."""
def pdf(x: ArrayLike, kappa: Any) -> Array:
    """The density of the von Mises distribution, elementwise."""
