# shardax/_devices/legacy_shardings.py - shardings whose mesh axes nobody named: PositionalSharding,
# PmapSharding, GSPMDSharding.
import math

import numpy as np

from shardax._base.manual_axes import UNNAMED_AXIS
from shardax._devices.devices import device
from shardax._devices.devices import devices as all_devices
from shardax._devices.gspmd import HloSharding
from shardax._devices.memory_kinds import checked_kind, recorded_kind
from shardax._devices.mesh import Mesh
from shardax._devices.shardings import NamedSharding, Sharding, check_rank
from shardax._devices.specs import PartitionSpec


class PositionalSharding(Sharding):
    """Sets of devices in a grid, whose dimensions split the array's at the same positions.

    Args:
      devices: a sequence or array of devices, one for each place of the grid.
      memory_kind: what shardings of arrays show.

    Raises:
      ValueError: where there are no devices, or the sharding is splits arrays of another rank.

    Example:
      >>> devices = shardax.devices()[:4]
      >>> rows = shardax.sharding.PositionalSharding(devices).reshape(2, 2).replicate(1)
      >>> rows
      PositionalSharding([[{CPU 0, 1}]
                          [{CPU 2, 3}]], shape=(2, 1))
      >>> rows.shard_shape((8, 3))
      (4, 3)
    """

    def __init__(self, devices, *, memory_kind=None) -> None:
        grid = np.asarray(devices, dtype=object)
        if not grid.size:
            raise ValueError(f"PositionalSharding requires at least one device, got {devices!r}.")
        self._assigned = tuple(grid.flat)
        # The numbers of the devices that have the part at each place, along another dimension.
        self._sets = np.reshape([d.id for d in self._assigned], (*grid.shape, 1))
        self.memory_kind = checked_kind(memory_kind) or "device"

    @classmethod
    def _of_description(cls, description, ndim):
        """The sharding of what arrays of that rank are labelled with."""
        axes, sizes, ids, spec, *_, memory = description
        spec = (*spec, *((),) * ndim)[:ndim]
        named = [name for names in spec for name in names]
        order = [axes.index(name) for name in (*named, *(a for a in axes if a not in named))]
        size = dict(zip(axes, sizes, strict=True))
        shape = [math.prod(size[name] for name in names) for names in spec]
        made = cls([device(i) for i in ids], memory_kind=memory or None)
        return made._with(np.reshape(ids, sizes).transpose(order).reshape(*shape, -1))

    def _with(self, sets):
        made = PositionalSharding(self._assigned, memory_kind=self.memory_kind)
        made._sets = np.sort(sets, axis=-1)
        return made

    @property
    def shape(self):
        """Into how many parts each dimension is split."""
        return self._sets.shape[:-1]

    @property
    def ndim(self):
        """The rank of the grid, and of the arrays."""
        return self._sets.ndim - 1

    def reshape(self, *shape):
        """The same sets in a grid of another shape."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        grid = np.arange(math.prod(self.shape)).reshape(*shape).shape
        return self._with(self._sets.reshape(*grid, -1))

    def transpose(self, *axes):
        """The same sets in a grid of permuted dimensions; reversed ones unless given."""
        places = np.arange(math.prod(self.shape)).reshape(self.shape).transpose(*axes)
        return self._with(self._sets.reshape(places.size, -1)[places])

    T = property(transpose)

    def replicate(self, axis=None, keepdims=True):
        """Unites the sets along dimensions (all unless given), which then split nothing."""
        axes = range(self.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = sorted(axis % self.ndim for axis in axes)
        kept = [n for n in range(self.ndim) if n not in axes]
        shape = [1 if i in axes else n for i, n in enumerate(self.shape) if keepdims or i in kept]
        return self._with(self._sets.transpose(*kept, *axes, self.ndim).reshape(*shape, -1))

    def with_memory_kind(self, kind):
        """The same, shown with another kind of memory: "device", "pinned_host", "unpinned_host"."""
        made = self._with(self._sets)
        made.memory_kind = checked_kind(kind)
        return made

    @property
    def is_fully_replicated(self):
        return self._sets.shape[-1] == len(self._assigned)

    @property
    def _device_assignment(self):
        return self._assigned

    @property
    def device_set(self):
        return set(self._assigned)

    def _description(self, ndim):
        if self.is_fully_replicated:
            return self._with(self._sets.reshape(*(1,) * ndim, -1))._grid_description()
        if ndim != self.ndim:
            raise ValueError(
                f"Sharding {self} is only valid for values of rank {self.ndim}, but was applied to "
                f"a value of rank {ndim}. Give it that many dimensions with `reshape`."
            )
        return self._grid_description()

    def _grid_description(self):
        names = tuple(f"_position_{i}" for i in range(self.ndim + 1))
        ids = tuple(int(i) for i in self._sets.flat)
        spec = tuple((name,) for name in names[:-1])
        kind = recorded_kind(self.memory_kind)
        return names, self._sets.shape, ids, spec, True, "", (), (), kind

    def _key(self):
        return self._sets.shape, self._sets.tobytes(), self.memory_kind

    def __eq__(self, other):
        return isinstance(other, PositionalSharding) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        sets = np.empty(self.shape, dtype=object)
        for place in np.ndindex(self.shape):
            ids = ", ".join(map(str, self._sets[place]))
            sets[place] = f"{{{self._assigned[0].platform.upper()} {ids}}}"
        grid = np.array2string(
            sets, prefix="PositionalSharding(", max_line_width=100, formatter={"all": str}
        )
        kind = "" if self.memory_kind == "device" else f", memory_kind={self.memory_kind}"
        return f"PositionalSharding({grid}{kind}, shape={self.shape})"


class PmapSharding(NamedSharding):
    """The way in which pmap splits: one dimension over devices, a slice for each.

    Args:
      devices: a sequence or array of devices.
      sharding_spec: for each dimension None, or what splits it; the first that is not None counts.

    Example:
      >>> shardax.sharding.PmapSharding(shardax.devices()[:4]).shard_shape((4, 3))
      (1, 3)
    """

    def __init__(self, devices, sharding_spec=(0,)) -> None:
        grid = np.asarray(devices, dtype=object).reshape(-1)
        split = next((i for i, entry in enumerate(sharding_spec) if entry is not None), 0)
        super().__init__(Mesh(grid, (UNNAMED_AXIS,)), PartitionSpec(*(None,) * split, UNNAMED_AXIS))

    @classmethod
    def default(cls, shape, sharded_dim=0, devices=None):
        """Dimension `sharded_dim` of arrays of that shape over the first devices.

        Example:
          >>> shardax.sharding.PmapSharding.default((4, 3)).shard_shape((4, 3))
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
      >>> mesh = Mesh(shardax.devices()[:2], ("x",))
      >>> tiles = NamedSharding(mesh, P("x"))._to_xla_hlo_sharding(1)
      >>> shardax.sharding.GSPMDSharding(shardax.devices()[:2], tiles).shard_shape((4,))
      (2,)
    """

    def __init__(self, devices, op_sharding, *, memory_kind=None) -> None:
        self._assigned = tuple(devices)
        self.memory_kind = checked_kind(memory_kind) or "device"
        self._hlo_sharding = op_sharding
        if op_sharding.is_tiled() and op_sharding.num_devices() != len(self._assigned):
            raise ValueError(
                f"GSPMDSharding: {op_sharding} is for {op_sharding.num_devices()} devices, but got "
                f"{len(self._assigned)}."
            )

    @classmethod
    def get_replicated(cls, device_assignment, *, memory_kind=None):
        """All of an array on each of the devices."""
        return cls(device_assignment, HloSharding(None), memory_kind=memory_kind)

    def with_memory_kind(self, kind):
        """The same, shown with another kind of memory: "device", "pinned_host", "unpinned_host"."""
        return GSPMDSharding(self._assigned, self._hlo_sharding, memory_kind=kind)

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
        rest = True, "", (), (), recorded_kind(self.memory_kind)
        if not tiles:
            ids = tuple(d.id for d in self._assigned)
            return ("_axis_0",), (len(ids),), ids, ((),) * ndim, *rest
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
        return names, tuple(sizes), ids, spec + ((),) * (ndim - len(spec)), *rest

    @property
    def device_set(self):
        return set(self._assigned)

    def _key(self):
        tiles = None if self.is_fully_replicated else self._hlo_sharding
        return self._assigned, tiles, self.memory_kind

    def __eq__(self, other):
        return isinstance(other, GSPMDSharding) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"GSPMDSharding({self._hlo_sharding!r}, memory_kind={self.memory_kind})"


for _public in (GSPMDSharding, PmapSharding, PositionalSharding):
    _public.__module__ = "shardax.sharding"
