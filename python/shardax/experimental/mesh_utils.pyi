"""Written by python/stubs.py."""

from typing import Any

import numpy as np



def create_device_mesh(mesh_shape: Any, devices: Any = None, *, contiguous_submeshes: bool = False, allow_split_physical_axes: bool = False) -> np.ndarray[Any, Any]:
    """All devices, in their order, as an array of that shape."""
def create_hybrid_device_mesh(mesh_shape: Any, dcn_mesh_shape: Any, devices: Any = None, *, process_is_granule: bool = False, should_sort_granules_by_key: bool = True, allow_split_physical_axes: bool = False) -> np.ndarray[Any, Any]:
    """A grid of groups of devices: `dcn_mesh_shape` groups in each dimension, each of `mesh_shape`."""
