"""shardax.extend.backend - the one platform and its devices."""

from shardax._devices.devices import default_device as get_default_device
from shardax._transform.jit import clear_caches
from shardax.lib.xla_bridge import get_backend

__all__ = [
    "backend_xla_version",
    "backends",
    "clear_backends",
    "clear_in_memory_compilation_cache",
    "get_backend",
    "get_default_device",
]


def backends():
    """{"cpu": the platform}."""
    return {"cpu": get_backend()}


def backend_xla_version(platform=None):
    """None: there is no XLA."""
    get_backend(platform)


def clear_backends():
    """Forgets all programs kept for jitted functions; the devices stay."""
    clear_caches()


clear_in_memory_compilation_cache = clear_backends
