"""shardax.experimental.maps - the older place of Mesh."""

from shardax.sharding import Mesh

__all__ = ["Mesh", "mesh"]


def mesh(devices, axis_names):
    """Mesh, as it was first called: `with mesh(devices, ("x",)):`.

    Example:
      >>> with mesh(devices()[:2], ("x",)) as m:
      ...     m.size
      2
    """
    return Mesh(devices, axis_names)
