"""Written by python/stubs.py."""

from contextlib import AbstractContextManager
from typing import Any

from shardax._base.effects import DebugEffect as DebugEffect
from shardax._base.effects import OrderedDebugEffect as OrderedDebugEffect
from shardax._debug.assertions import ReplicasDiverged as ReplicasDiverged
from shardax._debug.replicas import Divergence
from shardax._debug.replicas import VaryingResultWarning as VaryingResultWarning
from shardax.typing import ArrayLike

def assert_replicated(tree: Any) -> Any:
    """Raises where devices do not have the same bits."""
def breakpoint(*, backend: Any = None, filter_frames: bool = True, num_frames: Any = None, ordered: bool = False, token: Any = None, stdin: Any = None, stdout: Any = None) -> Any:
    """Stops the program when it comes here, and reads commands of a debugger. `p x` shows the value of an expression, `u` and `d` go to the caller's frame and back, `l` lists the source, `bt` the frames. `c` continues, `q` quits; `help` tells all."""
def callback(callback: Any = None, *args: Any, ordered: bool = False, partitioned: bool = False, **kwargs: Any) -> Any:
    """Calls a Python function for its effect, with concrete arrays; its result is ignored."""
def check_replicas(raises: bool = True) -> AbstractContextManager[list[Divergence]]:
    """Watches calls of pmapped and shard_mapped functions for values that should be the same on all devices and are not. A common cause is a forgotten average of a gradient."""
def in_package(frame: Any) -> Any:
    """True if a frame of the stack is this package's own or of an excluded file, or runs a script for it."""
def inspect_array_sharding(value: Any, *, callback: Any) -> Any:
    """Calls `callback` with the sharding of each array in a tree."""
def log(fmt: Any = None, *args: Any, ordered: bool = False, partitioned: bool = False, skip_format_check: bool = False, **kwargs: Any) -> Any:
    """`print` to the logger "jax._src.debugging", at level INFO and with the line of this call; `ordered` is without effect there, too."""
def no_arguments(name: Any, args: Any, kwargs: Any) -> Any:
    """The first of two calls, `name(**options)(function, ...)`, takes options only."""
def print(fmt: Any = None, *args: Any, ordered: bool = False, partitioned: bool = False, skip_format_check: bool = False, **kwargs: Any) -> Any:
    """Prints values when the program runs, also those of compiled and mapped functions."""
def visualize_array_sharding(arr: Any, **kwargs: Any) -> Any:
    """Prints which part of an array each device has; options are those of `visualize_sharding`."""
def visualize_collective(op: Any, devices: int = 4, *, perm: Any = None) -> Any:
    """A picture of a collective: above each device's data before, below its data after."""
def visualize_sharding(shape: Any, sharding: Any, *, use_color: bool = True, scale: ArrayLike = 1.0, min_width: int = 9, max_width: int = 80, color_map: Any = None) -> Any:
    """Prints a table of the parts of an array of `shape`, with the devices that have each."""
