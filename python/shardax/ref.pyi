"""Written by python/stubs.py."""

from typing import Any

from shardax._transform.refs import AbstractRef as AbstractRef
from shardax._transform.refs import Ref as Ref

def addupdate(ref: Any, idx: Any, x: Any) -> Any:
    """Adds `x` to the part that `idx` selects."""
def empty_ref(ty: Any, memory_space: Any = None) -> Any:
    """A reference to zeros of the shape and dtype of `ty`; for `memory_space` see `new_ref`."""
def free_ref(ref: Any) -> Any:
    """Marks a reference as not used any more."""
def freeze(ref: Any) -> Any:
    """The value of a reference, which may not be used any more."""
def get(ref: Any, idx: Any = ...) -> Any:
    """The value of a reference, or the part that `idx` selects."""
def new_ref(init_val: Any, *, memory_space: Any = None, kind: Any = None) -> Any:
    """A mutable reference to an array."""
def set(ref: Any, idx: Any, value: Any) -> Any:
    """Writes the part of a reference that `idx` selects."""
def swap(ref: Any, idx: Any, value: Any, *, _name: str = 'set/swap') -> Any:
    """Writes the part that `idx` selects, and gives its former value."""
