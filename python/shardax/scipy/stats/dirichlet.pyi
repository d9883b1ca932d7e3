"""Written by python/stubs.py."""


from shardax._core import Array
from shardax.typing import ArrayLike

def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """The logarithm of the density of the Dirichlet distribution."""
def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """The density of the Dirichlet distribution."""
