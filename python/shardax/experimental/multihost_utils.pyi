"""Written by python/stubs.py."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from shardax._devices.devices import Device

class ProcessFailureError(Exception):
    """A process has failed. It is there for programs that handle it: processes end together."""

def assert_equal(in_tree: Any, fail_message: str = '') -> None:
    """Checks that all processes have the same values."""
def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The tree of one process, as NumPy arrays, in all processes."""
def global_array_to_host_local_array(global_inputs: Any, global_mesh: Any, pspecs: Any) -> Any:
    """The parts of global arrays that this process has, on the part of the mesh that it has."""
def host_local_array_to_global_array(local_inputs: Any, global_mesh: Any, pspecs: Any) -> Any:
    """Global arrays of which each process gives its part."""
def live_devices(devices: Sequence[Device]) -> AbstractContextManager[list[Device]]:
    """A block for which all processes wait for each other, before and after it. It gives the devices that are alive: all, since processes end together."""
def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """Each leaf of all processes, as NumPy arrays in all processes: stacked along a new first dimension, or joined along the first one where `tiled`. All of an array that lies across processes is given."""
def reached_preemption_sync_point(step_id: int) -> bool:
    """False: nothing tells the processes that they are about to be stopped."""
def sync_global_devices(name: str) -> None:
    """Waits until all processes are here."""
