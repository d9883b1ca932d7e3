"""shardax.experimental.colocated_python.serialization - lists of devices.

Functions run in this process, so that nothing is written for another one.
"""

__all__ = ["DeviceList"]


class DeviceList(tuple):
    """Devices, in order."""
