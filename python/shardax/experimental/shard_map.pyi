"""Written by python/stubs.py."""

from typing import Any



def shard_map(f: Any = None, mesh: Any = None, in_specs: Any = ..., out_specs: Any = ..., check_vma: Any = None, *, axis_names: Any = ..., check_rep: Any = None, auto: Any = ...) -> Any:
    """A function of blocks, run on every device of a mesh."""
