"""Written by python/stubs.py."""

from typing import Any



def device_put_replicated(x: Any, devices: Any) -> Any:
    """Every leaf of a tree with a leading axis of len(devices) along which it repeats; kept once."""
def local_device_count(backend: Any = None) -> Any:
    """The number of devices that each process has."""
def local_devices(process_index: Any = None, backend: Any = None, host_id: Any = None) -> Any:
    """The devices of this process, or of the one with a number."""
def on_devices(array: Any, devices: Any) -> Any:
    """`array` labelled as a pmapped function labels its results: a slice for each device."""
def pad_shard_unpad(wrapped: Any, static_argnums: Any = ..., static_argnames: Any = ..., static_return: bool = False) -> Any:
    """`wrapped`, a pmapped function, on batches of any size: padded, sharded, and cut again."""
def pmean(xs: Any, axis_name: Any) -> Any:
    """The mean over a mapped axis: `lax.pmean`."""
def prefetch_to_device(iterator: Any, size: Any, devices: Any = None) -> Any:
    """The trees of `iterator` as arrays, taken from it `size` ahead."""
def replicate(tree: Any, devices: Any = None) -> Any:
    """Every leaf with a leading device axis along which it repeats; kept once."""
def unreplicate(tree: Any) -> Any:
    """The first device's value of every leaf, as views."""
