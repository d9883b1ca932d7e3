"""Written by python/stubs.py."""

from typing import Any

from shardax._transform.checkpoint import Offloadable as Offloadable
from shardax._transform.checkpoint import Recompute as Recompute
from shardax._transform.checkpoint import Saveable as Saveable
from shardax._transform.checkpoint import checkpoint_policies as checkpoint_policies

def checkpoint(fun: Any, *, prevent_cse: bool = True, policy: Any = None, static_argnums: Any = ..., static_argnames: Any = ..., concrete: bool = False) -> Any:
    """`fun`, whose derivatives compute its intermediate values again instead of keeping them."""
def checkpoint_name(x: Any, name: Any) -> Any:
    """`x`, with a name by which policies of `checkpoint` can choose to keep it."""
def print_saved_residuals(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Prints the list of `saved_residuals`, a value a line."""
def remat(fun: Any, *, prevent_cse: bool = True, policy: Any = None, static_argnums: Any = ..., static_argnames: Any = ..., concrete: bool = False) -> Any:
    """`fun`, whose derivatives compute its intermediate values again instead of keeping them."""
def saved_residuals(f: Any, *args: Any, **kwargs: Any) -> Any:
    """The values that the reverse derivative of f(*args, **kwargs) keeps from its forward pass."""
