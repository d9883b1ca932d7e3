"""shardax.lib.xla_bridge - the platform and its devices, under their older names."""

import functools

from shardax._devices import devices as _devices
from shardax._devices.devices import (
    default_backend,
    device_count,
    devices,
    host_count,
    host_id,
    local_device_count,
    local_devices,
    process_count,
    process_index,
)

__all__ = [
    "default_backend",
    "device_count",
    "devices",
    "get_backend",
    "host_count",
    "host_id",
    "local_device_count",
    "local_devices",
    "process_count",
    "process_index",
]


@functools.lru_cache
def get_backend(platform=None):
    """The platform, with `platform`, `device_count()`, `devices()` and `process_index()`.

    Raises:
      RuntimeError: for other platforms than "cpu".

    Example:
      >>> from shardax.lib import xla_bridge
      >>> xla_bridge.get_backend().platform
      'cpu'
    """
    if platform is not None:
        _devices.devices(platform)
    return _devices.backend
