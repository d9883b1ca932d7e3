"""shardax.sharding - meshes of devices, and how arrays are split over them.

All devices share one memory, so a sharding is a label: it says which part of an array belongs to
which device, and moves nothing.
"""

import collections
import enum
import math

import numpy as np

from shardax import _core
from shardax._devices import device as _device
from shardax._devices import devices as _devices


class AxisType(enum.Enum):
    """Kinds of mesh axes; they are recorded, and all behave like Auto."""

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()

    def __repr__(self):
        return self.name


class DuplicateSpecError(Exception):
    """A mesh axis splits more than one dimension."""


class IndivisibleError(ValueError):
    """A dimension is not a multiple of the mesh axes that split it."""


class P(tuple):
    """For each dimension: None, a mesh axis, or a tuple of mesh axes that split it.

    >>> PartitionSpec("x", None)
    P('x', None)
    """

    UNCONSTRAINED = object()

    def __new__(cls, *partitions, **kwargs):
        return super().__new__(cls, partitions)

    def __repr__(self):
        return f"P{tuple.__repr__(self)}"

    def __reduce__(self):
        return PartitionSpec, tuple(self)

    def __eq__(self, other):
        return isinstance(other, tuple) and tuple(self) == tuple(other)

    __hash__ = tuple.__hash__


PartitionSpec = P

_current_mesh = []


class Mesh:
    """Devices in a grid whose axes have names.

    Args:
      devices: a (nested) sequence or array of devices.
      axis_names: a name per dimension of `devices`.
      axis_types: an AxisType per axis, Auto unless given.

    >>> Mesh(_devices()[:4], ("x",)).shape
    OrderedDict([('x', 4)])
    """

    def __init__(self, devices, axis_names=None, *, axis_types=None):
        if axis_names is None:
            axis_names = ()
        if isinstance(axis_names, str):
            axis_names = (axis_names,)
        grid = np.empty(np.shape(np.asarray(devices, dtype=object)), dtype=object)
        grid[...] = np.asarray(devices, dtype=object)
        names = tuple(axis_names)
        if grid.ndim != len(names):
            raise ValueError(
                "Mesh requires the ndim of its first argument (`devices`) to equal the length of "
                "its second argument "
                f"(`axis_names`), but got devices.ndim == {grid.ndim} and len(axis_names) == "
                f"{len(names)}."
            )
        if len(set(names)) != len(names):
            raise ValueError(f"Mesh: axis names must be distinct, got {names}.")
        grid.flags.writeable = False
        self.devices = grid
        self.axis_names = names
        types = (AxisType.Auto,) * len(names) if axis_types is None else axis_types
        self.axis_types = (
            tuple(types) if isinstance(types, (tuple, list)) else (types,) * len(names)
        )

    @property
    def shape(self):
        return collections.OrderedDict(zip(self.axis_names, self.devices.shape))

    @property
    def shape_tuple(self):
        return tuple(self.shape.items())

    @property
    def size(self):
        return math.prod(self.devices.shape)

    @property
    def axis_sizes(self):
        return tuple(self.devices.shape)

    @property
    def empty(self):
        return self.devices.ndim == 0

    @property
    def device_ids(self):
        return np.vectorize(lambda d: d.id, otypes=[int])(self.devices)

    @property
    def local_mesh(self):
        return self

    @property
    def local_devices(self):
        return list(self.devices.flat)

    def _key(self):
        return self.axis_names, self.devices.shape, tuple(d.id for d in self.devices.flat)

    def __eq__(self, other):
        return isinstance(other, Mesh) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __enter__(self):
        _current_mesh.append(self)
        return self

    def __exit__(self, *exc):
        _current_mesh.pop()

    def _types(self):
        return ", ".join(map(repr, self.axis_types)) + ("," if len(self.axis_types) == 1 else "")

    def __repr__(self):
        sizes = tuple(self.shape.values())
        names = tuple(self.axis_names)
        return f"Mesh(axis_sizes={sizes}, axis_names={names}, axis_types=({self._types()}))"

    def __str__(self):
        sizes = ", ".join(f"'{n}': {s}" for n, s in self.shape.items())
        return f"Mesh({sizes}, axis_types=({self._types()}))"


def make_mesh(axis_shapes, axis_names, axis_types=None, *, devices=None):
    """A mesh of the first devices in that shape."""
    shape = tuple(axis_shapes)
    if len(shape) != len(tuple(axis_names)):
        raise ValueError(
            f"make_mesh: {len(shape)} sizes {shape} but {len(tuple(axis_names))} names "
            f"{tuple(axis_names)}."
        )
    known = _devices() if devices is None else list(devices)
    if math.prod(shape) > len(known):
        raise ValueError(
            f"Number of devices {len(known)} must be >= the product of mesh_shape {shape}. "
            f'Raise it with shardax.config.update("jax_num_cpu_devices", {math.prod(shape)}).'
        )
    grid = np.empty(math.prod(shape), dtype=object)
    grid[:] = known[: math.prod(shape)]
    return Mesh(grid.reshape(shape), axis_names, axis_types=axis_types)


class Sharding:
    """How an array is split over devices."""

    memory_kind = "device"
    is_fully_addressable = True

    @property
    def device_set(self):
        return {_device(i) for i in self._description(1)[2]}

    @property
    def addressable_devices(self):
        return self.device_set

    @property
    def num_devices(self):
        return len(self.device_set)

    def shard_shape(self, global_shape):
        """The shape of one device's part."""
        axes, sizes, _, spec, _ = self._description(len(global_shape))
        size = dict(zip(axes, sizes))
        out = []
        for n, names in zip(global_shape, spec):
            parts = math.prod(size[a] for a in names)
            if n % parts:
                raise IndivisibleError(
                    f"Sharding {self} implies that array axis {len(out)} is partitioned {parts} "
                    "times, but the dimension "
                    f"size is {n} (full shape: {tuple(global_shape)})"
                )
            out.append(n // parts)
        return tuple(out)

    def devices_indices_map(self, global_shape):
        """For each device, the slices that are its part."""
        from shardax import numpy as jnp
        from shardax._placement import _parts

        self.shard_shape(global_shape)
        labelled = label(jnp.zeros(global_shape), self)
        return {_device(d): index for d, index, _ in _parts(labelled)}

    addressable_devices_indices_map = devices_indices_map

    @property
    def is_fully_replicated(self):
        axes, sizes, _, spec, _ = self._description(len(getattr(self, "spec", ())))
        size = dict(zip(axes, sizes))
        return all(size[a] == 1 for names in spec for a in names)

    def is_equivalent_to(self, other, ndim):
        """Whether both give each device the same part of an array of that rank."""

        def trimmed(s):
            axes, sizes, devices, spec, _ = s._description(ndim)
            return (
                tuple(sizes),
                tuple(devices),
                tuple(tuple(axes.index(a) for a in n) for n in spec),
            )

        return trimmed(self) == trimmed(other)


class NamedSharding(Sharding):
    """A mesh and, per dimension, the mesh axes that split it."""

    def __init__(self, mesh, spec, *, memory_kind=None):
        self.mesh = mesh
        self.spec = spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec)
        seen = set()
        for names in self.spec:
            for name in () if names is None else names if isinstance(names, tuple) else (names,):
                if name not in mesh.axis_names:
                    raise ValueError(
                        f"Resource axis: {name} of {self.spec!r} is not found in mesh: "
                        f"{mesh.axis_names}."
                    )
                if name in seen:
                    raise DuplicateSpecError(
                        "A single NamedSharding spec specification can map every mesh axis to at "
                        "most one positional "
                        f"dimension, but {self.spec!r} has duplicate entries for `{name}`"
                    )
                seen.add(name)

    def _description(self, ndim):
        entries = [() if n is None else n if isinstance(n, tuple) else (n,) for n in self.spec]
        if len(entries) > ndim:
            raise ValueError(
                f"Sharding {self} is only valid for values of rank at least {len(entries)}, but "
                f"was applied to a value of rank {ndim}"
            )
        entries += [()] * (ndim - len(entries))
        return (
            tuple(str(n) for n in self.mesh.axis_names),
            tuple(self.mesh.devices.shape),
            tuple(d.id for d in self.mesh.devices.flat),
            tuple(tuple(str(a) for a in e) for e in entries),
            True,
        )

    def __eq__(self, other):
        return (
            isinstance(other, NamedSharding) and self.mesh == other.mesh and self.spec == other.spec
        )

    def __hash__(self):
        return hash((self.mesh, self.spec))

    def __repr__(self):
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec!r}, memory_kind=device)"


class SingleDeviceSharding(Sharding):
    """All of an array on one device."""

    def __init__(self, device, *, memory_kind=None):
        self._device = device

    def _description(self, ndim):
        return ("device",), (1,), (self._device.id,), ((),) * ndim, False

    def __eq__(self, other):
        return isinstance(other, SingleDeviceSharding) and self._device == other._device

    def __hash__(self):
        return hash(self._device)

    def __repr__(self):
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind=device)"


class PositionalSharding(NamedSharding):
    """Devices in a grid, whose dimensions split the array's at the same positions."""

    def __init__(self, devices, *, memory_kind=None):
        grid = np.asarray(devices, dtype=object)
        names = tuple(f"d{i}" for i in range(grid.ndim))
        super().__init__(Mesh(grid, names), PartitionSpec(*names))

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return PositionalSharding(self.mesh.devices.reshape(shape))


def label(array, where):
    """`array`, labelled with a device or sharding."""
    if not isinstance(where, Sharding):
        where = SingleDeviceSharding(where)
    if isinstance(array, _core.Tracer):
        return array
    where.shard_shape(array.shape)
    return _core.with_sharding(array, where._description(array.ndim))


def sharding_of(x):
    """The sharding that an array is labelled with; device 0 where there is none."""
    recorded = _core.get_sharding(x)
    if recorded is None:
        return SingleDeviceSharding(_device(0))
    axes, shape, ids, spec, named = recorded
    if not named:
        return SingleDeviceSharding(_device(ids[0]))
    grid = np.empty(len(ids), dtype=object)
    grid[:] = [_device(i) for i in ids]
    entries = [
        None if not names else names[0] if len(names) == 1 else tuple(names) for names in spec
    ]
    while entries and entries[-1] is None:
        entries.pop()
    return NamedSharding(Mesh(grid.reshape(shape), axes), PartitionSpec(*entries))


def get_mesh():
    """The mesh set by a `with mesh:` block, or None."""
    return _current_mesh[-1] if _current_mesh else None
