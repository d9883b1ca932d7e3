"""Written by python/stubs.py."""

from typing import Any



def inexact(*operands: Any) -> Any:
    """Arrays of the inexact dtype that the operands promote to, each of its own shape."""
def vq(obs: Any, code_book: Any, check_finite: bool = True) -> Any:
    """(codes, distances): for each row of `obs` the nearest row of `code_book`, by Euclid's norm."""
