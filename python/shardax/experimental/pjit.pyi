"""Written by python/stubs.py."""

from typing import Any

from shardax._devices.jit_shardings import caller as caller
from shardax._devices.mesh_context import use_abstract_mesh as use_abstract_mesh
from shardax._devices.shardings import PartitionSpec as PartitionSpec

class OnMesh:
    """`fun` jitted, run on the devices of the mesh of the `with mesh:` block around a call."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __init__(self, fun: Any, make: Any, shardings: Any, placed: Any) -> None: ...
    def clear_cache(self) -> Any: ...
    def eval_shape(self, *args: Any, **kwargs: Any) -> Any: ...
    def lower(self, *args: Any, **kwargs: Any) -> Any: ...
    def trace(self, *args: Any, **kwargs: Any) -> Any: ...
def argument_paths(fun: Any, args: Any, kwargs: Any, statics: Any) -> Any:
    """One name per leaf of (args, kwargs) as the user would write it: x, a['k'][1], args[0], k['a']."""
def check_exclusive(device: Any, backend: Any, in_shardings: Any, out_shardings: Any) -> Any:
    """ValueError where jit is told twice where to run: the last two say whether they were given."""
def context_mesh() -> Any:
    """The mesh of set_mesh, use_abstract_mesh or shard_map, without devices; or an empty one."""
def get_mesh() -> Any:
    """The current mesh: of the innermost `with mesh:` block or of `set_mesh`, else an empty one."""
def pjit(fun: Any = None, in_axis_resources: Any = ..., out_axis_resources: Any = ..., static_argnums: Any = None, donate_argnums: Any = None, *, in_shardings: Any = ..., out_shardings: Any = ..., device: Any = None, backend: Any = None, **options: Any) -> Any:
    """jit; in_axis_resources and out_axis_resources are in_shardings and out_shardings."""
def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """`x` labelled with shardings (a tree prefix of them), also while a function is traced."""
