"""Written by python/stubs.py."""

from typing import Any



def dct(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """The discrete cosine transform: 2 times the sum over j of x[j] cos(pi k (2 j + 1) / (2 n))."""
def dctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The discrete cosine transform along several dimensions."""
def idct(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """The inverse of `dct`, with the same arguments."""
def idctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The inverse of `dctn`, with the same arguments."""
