"""Written by python/stubs.py."""

import os
from typing import Any



def restore(folder: str | os.PathLike[str], like: Any) -> Any:
    """The tree that `save` has written, on any number of processes and devices."""
def save(
    folder: str | os.PathLike[str], tree: Any, *, overwrite: bool = False
) -> None:
    """Writes the leaves of a tree into a folder. All processes call it, with the same tree."""
