"""shardax/_devices/shardings.py - shardings and partition specs; public in shardax.sharding."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import shardax._core as _core
from shardax._devices.devices import Device, default_device, is_local
from shardax._devices.devices import device as _device
from shardax._devices.memory_kinds import MEMORY_KINDS, checked_kind, recorded_kind
from shardax._devices.mesh import AbstractMesh, AxisType, Mesh
from shardax._devices.mesh_context import get_mesh
from shardax._devices.shard_index import parts
from shardax._devices.specs import (
    UNCONSTRAINED,
    axes_of_entry,
    check_repeated,
)
from shardax._devices.specs import DuplicateSpecError as DuplicateSpecError
from shardax._devices.specs import PartitionSpec as PartitionSpec


class IndivisibleError(ValueError):
    """A dimension is not a multiple of the mesh axes that split it."""


class Sharding:
    """The way in which an array is split over devices: the base class of shardings.

    Example:
      >>> isinstance(jnp.ones(2).sharding, shardax.sharding.Sharding)
      True
    """

    memory_kind = "device"

    @property
    def device_set(self):
        return {_device(i) for i in self._description(len(getattr(self, "spec", ())))[2]}

    @property
    def _device_assignment(self):
        rank = len(getattr(self, "spec", ()))
        return tuple(_device(i) for i in self._description(rank)[2])

    @property
    def _addressable_device_assignment(self):
        own = self.addressable_devices
        return tuple(device for device in self._device_assignment if device in own)

    @property
    def addressable_devices(self):
        return {device for device in self.device_set if is_local(device.id)}

    @property
    def has_addressable_devices(self):
        return bool(self.addressable_devices)

    @property
    def is_fully_addressable(self):
        return self.addressable_devices == self.device_set

    @property
    def num_devices(self):
        return len(self.device_set)

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of one device's part."""
        axes, sizes, _, spec, *_ = self._description(len(global_shape))
        size = dict(zip(axes, sizes))
        out = []
        for n, names in zip(global_shape, (*spec, *((),) * len(global_shape))):
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
        self.shard_shape(global_shape)
        shape = tuple(global_shape)
        labelled = label(_core.full(shape, 0, np.dtype(bool)), self)
        return {_device(d): index for d, index, _ in parts(shape, _core.get_sharding(labelled))}

    def addressable_devices_indices_map(self, global_shape):
        """The same, of this process's devices."""
        own = self.addressable_devices
        parts = self.devices_indices_map(global_shape)
        return {device: part for device, part in parts.items() if device in own}

    @property
    def is_fully_replicated(self):
        own = getattr(self, "spec", ())
        axes, sizes, _, spec, *_ = self._description(len(own))
        size = dict(zip(axes, sizes))
        terms = getattr(own, "unreduced", ())
        return all(size[a] == 1 for names in (*spec, terms) for a in names)

    def is_equivalent_to(self, other, ndim):
        """True if both give each device the same part of an array of that rank.

        Example:
          >>> one = NamedSharding(make_mesh((1,), ("x",)), P("x"))
          >>> one.is_equivalent_to(SingleDeviceSharding(devices()[0]), 2)
          True
        """
        same_memory = recorded_kind(self.memory_kind) == recorded_kind(other.memory_kind)
        return same_memory and self._places(ndim) == other._places(ndim)

    def _places(self, ndim):
        """The devices in their order, and what each has of the smallest array of that rank that is
        divisible."""
        description = self._description(ndim)
        sizes = dict(zip(description[0], description[1]))
        spec = (*description[3], *((),) * ndim)[:ndim]
        shape = tuple(math.prod(sizes[a] for a in names) for names in spec)
        indices = {device: index for device, index, _ in parts(shape, description)}
        return self._device_assignment, indices

    def _to_xla_hlo_sharding(self, num_dimensions):
        """The tiles of arrays of so many dimensions, without names: see GSPMDSharding."""
        from shardax._devices.gspmd import tiles_of  # at first use: few ask

        return tiles_of(self, num_dimensions)

    def check_compatible_aval(self, aval_shape):
        """ValueError where an array of that shape has too few dimensions for the spec."""
        self._description(len(aval_shape))


def check_rank(where, spec, ndim):
    """ValueError where the spec of `where`, or `where` itself, has more entries than dimensions."""
    if len(spec) > ndim:
        scalar = " For scalars the PartitionSpec should be P()." if ndim == 0 else ""
        raise ValueError(
            f"Sharding {where} is only valid for values of rank at least {len(spec)}, but was "
            f"applied to a value of rank {ndim}.{scalar}"
        )


class NamedSharding(Sharding):
    """A mesh and, for each dimension of an array, the mesh axes that split it.

    Args:
      mesh: a Mesh, or an AbstractMesh.
      spec: a PartitionSpec.
      memory_kind: the memory, "device" unless given.

    Raises:
      ValueError: `spec` names axes that the mesh has not.

    Example:
      >>> rows = NamedSharding(shardax.make_mesh((4,), ("x",)), P("x", None))
      >>> shardax.device_put(jnp.zeros((8, 3)), rows).addressable_shards[0].data.shape
      (2, 3)
    """

    def __init__(self, mesh: Any, spec: Any, *, memory_kind: str | None = None) -> None:
        if not isinstance(mesh, AbstractMesh):
            raise ValueError(
                f"NamedSharding: mesh must be a jax.sharding.Mesh, got {type(mesh)}: {mesh!r}."
            )
        if spec is None:
            raise TypeError("NamedSharding: Unexpected None for the spec; P() is whole arrays'.")
        self.mesh = mesh
        self.spec = spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec)
        concrete = isinstance(mesh, Mesh)
        if concrete:
            self.memory_kind = checked_kind(memory_kind) or "device"
        elif memory_kind is None or memory_kind in MEMORY_KINDS:
            self.memory_kind = memory_kind
        else:
            raise ValueError(
                f"Got invalid memory kind: {memory_kind}. Valid memory kinds are: "
                f"{', '.join(MEMORY_KINDS)}"
            )
        asked = not mesh.empty and not mesh.auto_axes and not mesh._implied
        if asked and UNCONSTRAINED in self.spec:
            raise ValueError(
                f"{self.spec} cannot contain `P.UNCONSTRAINED` when no mesh axis_types are `Auto`. "
                f"Got mesh axis_types={mesh.axis_types}"
            )
        for names in self.spec:
            for name in axes_of_entry(names):
                if name not in mesh.axis_names:
                    raise ValueError(
                        f"Resource axis: {name} of {self.spec!r} is not found in mesh: "
                        f"{mesh.axis_names}."
                    )
        check_repeated(self.spec, "NamedSharding spec")
        for what, axes in zip(("Unreduced", "Reduced"), self.spec._sums):
            for name in axes:
                if name not in mesh.axis_names:
                    raise ValueError(
                        f"{what} axes {name} is not found in mesh.axis_names={mesh.axis_names}. "
                        f"Got pspec={self.spec!r}"
                    )
                if mesh._name_to_type[name] != AxisType.Explicit:
                    raise ValueError(
                        f"{what} axes can only refer to mesh axes that is of type `Explicit`. Got "
                        f"{what.lower()} axes: {set(axes)} and mesh: {mesh}"
                    )

    def _description(self, ndim):
        check_rank(self, self.spec, ndim)
        entries = [axes_of_entry(names) for names in self.spec]
        return (
            tuple(str(n) for n in self.mesh.axis_names),
            self.mesh.axis_sizes,
            self.mesh.device_ids_in_order,
            tuple(tuple(str(a) for a in e) for e in entries),
            True,
            self.mesh._kinds(),
            *(tuple(str(a) for a in self.mesh.axis_names if a in s) for s in self.spec._sums),
            recorded_kind(self.memory_kind),
        )

    def _repr_svg_(self):
        from shardax._devices.drawings import sharding_svg  # at first use: for notebooks only

        return sharding_svg(self)

    @property
    def replicated_axes(self):
        """The names of the mesh axes along which all devices have the same."""
        split = {name for entry in self.spec for name in axes_of_entry(entry)}
        return frozenset(self.mesh.axis_names) - split.union(*self.spec._sums)

    @property
    def unconstrained_dims(self):
        """The dimensions for which the spec has UNCONSTRAINED."""
        return tuple(i for i, names in enumerate(self.spec) if names is UNCONSTRAINED)

    def __eq__(self, other):
        return (
            isinstance(other, NamedSharding)
            and self.mesh == other.mesh
            and self.spec == other.spec
            and self.memory_kind == other.memory_kind
        )

    def __hash__(self):
        return hash((self.mesh, self.spec, self.memory_kind))

    def with_spec(self, spec):
        """The same mesh with another spec."""
        return NamedSharding(self.mesh, spec, memory_kind=self.memory_kind)

    def with_memory_kind(self, kind):
        """The same, shown with another kind of memory: "device", "pinned_host", "unpinned_host"."""
        return NamedSharding(self.mesh, self.spec, memory_kind=kind)

    def update(self, *, mesh=None, spec=None, memory_kind=None):
        """The same with another mesh, spec or kind of memory."""
        spec = self.spec if spec is None else spec
        return NamedSharding(mesh or self.mesh, spec, memory_kind=memory_kind or self.memory_kind)

    def __repr__(self):
        kind = f", memory_kind={self.memory_kind}" if self.memory_kind else ""
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec!r}{kind})"


class SingleDeviceSharding(Sharding):
    """The sharding of an array that lies on one device as a whole.

    Example:
      >>> where = shardax.sharding.SingleDeviceSharding(shardax.devices()[1])
      >>> shardax.device_put(jnp.ones(2), where).devices() == where.device_set
      True
    """

    def __init__(self, device: Any, *, memory_kind: str | None = None) -> None:
        self._device = device
        self.memory_kind = checked_kind(memory_kind) or "device"

    def with_memory_kind(self, kind):
        """The same, shown with another kind of memory: "device", "pinned_host", "unpinned_host"."""
        return SingleDeviceSharding(self._device, memory_kind=kind)

    def _description(self, ndim):
        where = ("device",), (1,), (self._device.id,), ((),) * ndim
        return *where, False, "", (), (), recorded_kind(self.memory_kind)

    def __eq__(self, other):
        return isinstance(other, SingleDeviceSharding) and (self._device, self.memory_kind) == (
            other._device,
            other.memory_kind,
        )

    def __hash__(self):
        return hash((self._device, self.memory_kind))

    def __repr__(self):
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind={self.memory_kind})"


def make_single_device_sharding(device, *, memory_kind=None):
    """The sharding of arrays that lie on one device.

    Example:
      >>> shardax.sharding.make_single_device_sharding(shardax.devices()[0]).device_set
      {CpuDevice(id=0)}
    """
    return SingleDeviceSharding(device, memory_kind=memory_kind)


def label(array, where, src=None):
    """An array labelled with a device, a sharding, or a PartitionSpec of the current mesh; `src` is
    its label before.

    Example:
      >>> shardax.sharding.label(jnp.ones(2), shardax.devices()[1]).devices()
      {CpuDevice(id=1)}
    """
    if isinstance(where, PartitionSpec):
        if get_mesh().empty:
            raise ValueError(
                f"Please set a mesh via `jax.set_mesh` if a PartitionSpec is passed to device_put; "
                f"got {where!r} and no mesh."
            )
        where = NamedSharding(get_mesh(), where)
    layout = getattr(where, "layout", None)  # of a Format
    where = getattr(where, "sharding", where)
    if where is None:
        return array
    if not isinstance(where, (Sharding, Device)):
        raise ValueError(
            f"device={where!r} must be an instance of jax.sharding.Sharding or a device, such as "
            "jax.devices()[0]."
        )
    if isinstance(where, Device):
        where = SingleDeviceSharding(where)
    where = concretely(where)
    if where is None:
        return array  # names of axes, and no devices
    if getattr(where, "unconstrained_dims", ()):
        raise ValueError(
            f"device_put: Unconstrained dims are not allowed: {where}; with_sharding_constraint "
            "takes them."
        )
    where.shard_shape(array.shape)
    if layout is not None:
        layout.check_compatible_aval(array.shape)
    come = () if src is None else (src._description(array.ndim),)
    description = where._description(array.ndim)
    if layout is not None and not isinstance(array, _core.Tracer):
        from shardax._devices.layout import order_of, with_order  # at first use: quick import

        description = with_order(description, order_of(layout, array.ndim))
    return _core.with_sharding(array, description, *come)


def created(array, where):
    """`label` for functions that make arrays: over explicit axes the spec has an entry for each
    dimension, as types do."""
    out = label(array, where)
    known = None if isinstance(out, _core.Tracer) else _core.get_sharding(out)
    if known is None or not is_explicit(known) or len(known[3]) == out.ndim:
        return out
    return _core.with_sharding(out, completed(known, out.ndim))


def is_explicit(description):
    """True if types show how a mesh axis of the description splits arrays."""
    return not set(description[5]).isdisjoint("ei")


def completed(description, ndim):
    """A description with an entry in its spec for each of `ndim` dimensions."""
    spec = (*description[3], *((),) * ndim)[:ndim]
    return *description[:3], spec, *description[4:]


def concretely(where):
    """A sharding of a ShapeDtypeStruct as one over devices: an AbstractMesh stands for the current
    mesh. None where there is none that fits."""
    if not isinstance(where, NamedSharding) or isinstance(where.mesh, Mesh):
        return where
    same = get_mesh().shape_tuple == where.mesh.shape_tuple
    return NamedSharding(get_mesh(), where.spec) if same else None


def sharding_of(x):
    """The sharding that an array is labelled with; the default device's where there is none."""
    return described(_core.get_sharding(x))


def described(description):
    """The sharding of a description as the core gives it; the default device's for None."""
    if description is None:
        return SingleDeviceSharding(default_device())
    axes, shape, ids, spec, named, kinds, unreduced, reduced, memory = description
    if not named:
        return SingleDeviceSharding(_device(ids[0]), memory_kind=memory or None)
    entries = [
        None if not names else names[0] if len(names) == 1 else tuple(names) for names in spec
    ]
    types = tuple(AxisType.of_letter(kind) for kind in kinds) or None
    if ids:
        grid = np.empty(len(ids), dtype=object)
        grid[:] = [_device(i) for i in ids]
        mesh = Mesh(grid.reshape(shape), axes, axis_types=types)
    else:  # nobody knows which
        mesh = AbstractMesh(shape, axes, axis_types=types)
    mesh._implied = "i" in kinds
    sums = {"unreduced": frozenset(unreduced), "reduced": frozenset(reduced)}
    return NamedSharding(mesh, PartitionSpec(*entries, **sums), memory_kind=memory or None)


def description_of(where):
    """The description of a sharding for arrays of as many dimensions as its spec has entries."""
    return where._description(len(getattr(where, "spec", ())))


for _public in (
    DuplicateSpecError,
    IndivisibleError,
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    label,
    make_single_device_sharding,
):
    _public.__module__ = "shardax.sharding"
