"""Written by python/stubs.py."""


from shardax._core import Array
from shardax.typing import ArrayLike

def logpdf(x: ArrayLike, c: ArrayLike) -> Array:
    """The logarithm of the density of the wrapped Cauchy distribution, elementwise."""
def pdf(x: ArrayLike, c: ArrayLike) -> Array:
    """The density of the wrapped Cauchy distribution, elementwise."""
