# shardax/_devices/unnamed.py - shardings whose mesh axes nobody named: PositionalSharding,
# PmapSharding, GSPMDSharding.
import numpy as np

from shardax._devices.devices import devices as all_devices
from shardax._devices.mesh import Mesh
from shardax._devices.shardings import NamedSharding, Sharding, check_rank
from shardax._devices.specs import PartitionSpec
from shardax._devices.tiles import HloSharding


class PositionalSharding(NamedSharding):
    """Devices in a grid, whose dimensions split the array's at the same positions."""

    def __init__(self, devices, *, memory_kind=None):
        grid = np.asarray(devices, dtype=object)
        names = tuple(f"d{i}" for i in range(grid.ndim))
        super().__init__(Mesh(grid, names), PartitionSpec(*names))

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return PositionalSharding(self.mesh.devices.reshape(shape))


class PmapSharding(NamedSharding):
    """How pmap splits: one dimension over devices, a slice for each.

    Args:
      devices: a sequence or array of devices.
      sharding_spec: for each dimension None, or what splits it; the first that is not None counts.
    """

    def __init__(self, devices, sharding_spec=(0,)):
        grid = np.asarray(devices, dtype=object).reshape(-1)
        name = "_internal_pmap_axis_name"
        split = next((i for i, entry in enumerate(sharding_spec) if entry is not None), 0)
        super().__init__(Mesh(grid, (name,)), PartitionSpec(*(None,) * split, name))

    @classmethod
    def default(cls, shape, sharded_dim=0, devices=None):
        """Dimension `sharded_dim` of arrays of that shape over the first devices.

        Example:
          >>> PmapSharding.default((4, 3)).shard_shape((4, 3))
          (1, 3)
        """
        known = all_devices()[: shape[sharded_dim]] if devices is None else devices
        return cls(known, tuple(0 if i == sharded_dim else None for i in range(len(shape))))

    @property
    def devices(self):
        return self.mesh.devices


class GSPMDSharding(Sharding):
    """Tiles of arrays on devices, without a mesh.

    Args:
      devices: a sequence of devices.
      op_sharding: how they share the tiles, as `_to_xla_hlo_sharding` of a NamedSharding gives it.

    Example:
      >>> mesh = Mesh(devices()[:2], ("x",))
      >>> tiles = NamedSharding(mesh, P("x"))._to_xla_hlo_sharding(1)
      >>> GSPMDSharding(devices()[:2], tiles).shard_shape((4,))
      (2,)
    """

    def __init__(self, devices, op_sharding, *, memory_kind=None):
        self._assigned = tuple(devices)
        self._hlo_sharding = op_sharding
        if op_sharding.is_tiled() and op_sharding.num_devices() != len(self._assigned):
            raise ValueError(
                f"GSPMDSharding: {op_sharding} is for {op_sharding.num_devices()} devices, but got "
                f"{len(self._assigned)}."
            )

    @classmethod
    def get_replicated(cls, device_assignment, *, memory_kind=None):
        """All of an array on each of the devices."""
        return cls(device_assignment, HloSharding(None))

    @property
    def _device_assignment(self):
        return self._assigned

    def _to_xla_hlo_sharding(self, num_dimensions):
        return self._hlo_sharding

    @property
    def is_fully_replicated(self):
        return len(self._assigned) == 1 or self._hlo_sharding.is_replicated()

    def _description(self, ndim):
        tiles = self._hlo_sharding.tile_assignment_dimensions()
        if not tiles:
            ids = tuple(d.id for d in self._assigned)
            return ("_axis_0",), (len(ids),), ids, ((),) * ndim, True, "", (), ()
        # Over the smallest mesh that has the devices in their own order, if there is one.
        sizes, entries = self._hlo_sharding.axes()
        order = range(len(self._assigned))
        if not self._hlo_sharding.is_tile_assignment_iota():
            order = self._hlo_sharding.tile_assignment_devices()
        names = tuple(f"_axis_{i}" for i in range(len(sizes)))
        if self._hlo_sharding.replicate_on_last_tile_dim():
            entries = entries[:-1]
        check_rank(self, entries, ndim)
        spec = tuple(tuple(names[i] for i in entry) for entry in entries)
        ids = tuple(self._assigned[i].id for i in order)
        return names, tuple(sizes), ids, spec + ((),) * (ndim - len(spec)), True, "", (), ()

    @property
    def device_set(self):
        return set(self._assigned)

    def _key(self):
        tiles = None if self.is_fully_replicated else self._hlo_sharding
        return self._assigned, tiles

    def __eq__(self, other):
        return isinstance(other, GSPMDSharding) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"GSPMDSharding({self._hlo_sharding!r})"


for _public in (GSPMDSharding, PmapSharding, PositionalSharding):
    _public.__module__ = "shardax.sharding"
