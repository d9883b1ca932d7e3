"""shardax/_devices/mesh.py - devices in a grid whose axes have names.

A mesh only names devices: those of a process share its memory.
"""

import collections
import contextlib
import dataclasses
import enum
import math
import operator
from typing import Any

import numpy as np

from shardax._devices import mesh_state as state
from shardax._devices.devices import devices as _devices
from shardax._devices.devices import process_index


class AxisType(enum.Enum):
    """The kinds of mesh axes. The split of arrays over them is left to the system (Auto), said by
    their types (Explicit), or done by hand in shard_map (Manual).

    Example:
      >>> shardax.make_mesh((2,), ("x",)).axis_types
      (Explicit,)
    """

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()

    def __repr__(self):
        return self.name

    @classmethod
    def of_letter(cls, letter):
        """The type whose name begins with that letter."""
        return {"m": cls.Manual, "e": cls.Explicit, "i": cls.Explicit}.get(letter, cls.Auto)


def _axis_types(names, types):
    if types is None:
        return (AxisType.Auto,) * len(names)
    types = tuple(types) if isinstance(types, (tuple, list)) else (types,)
    if not all(isinstance(t, AxisType) for t in types):
        raise TypeError(f"axis_types {types} must be of type `jax.sharding.AxisType`.")
    if len(types) != len(names):
        raise ValueError(
            "Number of axis names should match the number of axis_types. Got axis_names="
            f"{names} and axis_types={types}"
        )
    return types


@dataclasses.dataclass(frozen=True)
class AbstractDevice:
    """A kind of device: the devices of an AbstractMesh, in place of those of the mesh that it
    stands for.

    Example:
      >>> shardax.sharding.AbstractDevice("cpu", None, "cpu").platform
      'cpu'
    """

    device_kind: str
    num_cores: int | None
    platform: str

    def __repr__(self):
        return f"AbstractDevice({self._text()})"

    def _text(self):
        return (
            f"device_kind={self.device_kind}, num_cores={self.num_cores}, platform={self.platform}"
        )


class AbstractMesh:
    """Names and sizes of mesh axes, without devices.

    Args:
      axis_sizes: the size of each axis.
      axis_names: a name per axis.
      axis_types: an AxisType per axis, Auto unless given.
      abstract_device: the kind of devices, or None.

    >>> shardax.sharding.AbstractMesh((4, 2), ("x", "y")).size
    8
    """

    abstract_device = None
    _implied = False  # nobody has asked for the Explicit ones among axis_types

    def __init__(
        self,
        axis_sizes: Any,
        axis_names: Any,
        axis_types: Any = None,
        *,
        abstract_device: Any = None,
    ) -> None:
        names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        sizes = tuple(axis_sizes)
        if len(sizes) != len(names):
            raise ValueError(
                f"AbstractMesh: {len(sizes)} axis sizes {sizes} but {len(names)} axis names "
                f"{names}."
            )
        if None in names:
            raise ValueError(f"Mesh axis names cannot be None, got {names}.")
        if len(set(names)) != len(names):
            raise ValueError(f"{type(self).__name__}: axis names must be distinct, got {names}.")
        self.axis_sizes = sizes
        self.axis_names = names
        self.axis_types = _axis_types(names, axis_types)
        if abstract_device is not None:
            self.abstract_device = abstract_device

    @property
    def shape(self):
        return collections.OrderedDict(zip(self.axis_names, self.axis_sizes))

    @property
    def shape_tuple(self):
        return tuple(self.shape.items())

    @property
    def size(self):
        return math.prod(self.axis_sizes) if self.axis_sizes else 0

    @property
    def empty(self):
        return not self.axis_names

    def _are_all(self, kind):
        return bool(self.axis_types) and all(t == kind for t in self.axis_types)

    @property
    def are_all_axes_auto(self):
        return self._are_all(AxisType.Auto)

    @property
    def are_all_axes_explicit(self):
        return self._are_all(AxisType.Explicit)

    @property
    def are_all_axes_manual(self):
        return self._are_all(AxisType.Manual)

    def _axes_of(self, kind):
        return tuple(n for n, t in zip(self.axis_names, self.axis_types) if t == kind)

    @property
    def auto_axes(self):
        return self._axes_of(AxisType.Auto)

    @property
    def explicit_axes(self):
        return self._axes_of(AxisType.Explicit)

    @property
    def manual_axes(self):
        return self._axes_of(AxisType.Manual)

    @property
    def _any_axis_auto(self):
        return bool(self.auto_axes)

    @property
    def _any_axis_explicit(self):
        return bool(self.explicit_axes)

    @property
    def _any_axis_manual(self):
        return bool(self.manual_axes)

    @property
    def is_multi_process(self):
        return False

    @property
    def device_ids_in_order(self):
        """The devices' ids, row by row; of an abstract mesh, the first ones."""
        return tuple(range(self.size))

    @property
    def abstract_mesh(self):
        return self

    @property
    def _name_to_type(self):
        return dict(zip(self.axis_names, self.axis_types))

    def _kinds(self):
        """The types of the axes as the core has them: a letter each, none where all are Auto."""
        if self.are_all_axes_auto or self.empty:
            return ""
        letters = "".join(t.name[0].lower() for t in self.axis_types)
        return letters.replace("e", "i") if self._implied else letters

    def update(self, axis_sizes=None, axis_names=None, axis_types=None, **options):
        """The same with other sizes, names or types."""
        options.setdefault("abstract_device", self.abstract_device)
        return AbstractMesh(
            self.axis_sizes if axis_sizes is None else axis_sizes,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
            **options,
        )

    def update_axis_types(self, name_to_type):
        """The same with other types of the axes that are keys."""
        return self.update(axis_types=tuple(
            name_to_type.get(n, t) for n, t in zip(self.axis_names, self.axis_types)
        ))  # fmt: skip

    def _key(self):
        return self.axis_names, self.axis_sizes, self.axis_types, self.abstract_device

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _text(self):
        sizes = ", ".join(f"'{n}': {s}" for n, s in self.shape.items())
        types = ", ".join(map(repr, self.axis_types)) + ("," if len(self.axis_types) == 1 else "")
        kind = f", {self.abstract_device._text()}" if self.abstract_device is not None else ""
        return f"{type(self).__name__}({sizes or '()'}, axis_types=({types}){kind})"

    __repr__ = __str__ = _text

    def _repr_svg_(self):
        from shardax._devices.drawings import mesh_svg  # at first use: for notebooks only

        return mesh_svg(self)


def _others(axis, ndim):
    return tuple(i for i in range(ndim) if i != axis)


_CPU = AbstractDevice("cpu", None, "cpu")


class Mesh(AbstractMesh, contextlib.ContextDecorator):
    """Devices in a grid whose axes have names; in a `with` block, or in calls of a function that it
    decorates, the current mesh.

    Args:
      devices: a (nested) sequence or array of devices.
      axis_names: a name per dimension of `devices`.
      axis_types: an AxisType per axis, Auto unless given.

    >>> dict(Mesh(shardax.devices()[:4], ("x",)).shape)
    {'x': 4}
    """

    def __init__(self, devices: Any, axis_names: Any = None, axis_types: Any = None) -> None:
        if axis_names is None:
            axis_names = ()
        if isinstance(axis_names, str):
            axis_names = (axis_names,)
        grid = np.empty(np.shape(np.asarray(devices, dtype=object)), dtype=object)
        grid[...] = np.asarray(devices, dtype=object)
        names = tuple(axis_names)
        if None in names:
            raise ValueError(f"Mesh axis names cannot be None, got {names}.")
        if grid.ndim != len(names):
            raise ValueError(
                "Mesh requires the ndim of its first argument (`devices`) to equal the length of "
                "its second argument "
                f"(`axis_names`), but got devices.ndim == {grid.ndim} and len(axis_names) == "
                f"{len(names)}."
            )
        super().__init__(grid.shape, names, axis_types)
        grid.flags.writeable = False
        self.devices = grid

    @property
    def device_ids(self):
        return np.vectorize(lambda d: d.id, otypes=[int])(self.devices)

    @property
    def device_ids_in_order(self):
        return () if self.empty else tuple(d.id for d in self.devices.flat)

    @property
    def is_multi_process(self):
        return len(self.local_devices) != self.size

    @property
    def local_mesh(self):
        """The part of the grid that this process's devices make up, with axes of type Auto; the
        mesh itself where there are no others.

        Raises:
          ValueError: where they make up no part that is a grid.
        """
        if not self.is_multi_process:
            return self
        own = np.vectorize(lambda d: d.process_index == process_index(), otypes=[bool])(
            self.devices
        )
        spans = [np.flatnonzero(own.any(axis=_others(axis, own.ndim))) for axis in range(own.ndim)]
        part = tuple(slice(at[0], at[-1] + 1) if at.size else slice(0) for at in spans)
        if not own.any() or not own[part].all():
            raise ValueError(
                f"local_mesh: the devices of process {process_index()}, {self.local_devices}, are "
                f"no contiguous part of {self!r}; each process's devices should be one block of it."
            )
        return Mesh(self.devices[part], self.axis_names)

    @property
    def local_devices(self):
        return [d for d in self.devices.flat if d.process_index == process_index()]

    @property
    def abstract_mesh(self):
        if self.empty:
            return AbstractMesh((), ())
        mesh = AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types, abstract_device=_CPU)
        mesh._implied = self._implied
        return mesh

    def update(self, devices=None, axis_names=None, axis_types=None):
        """The same with other devices, names or types."""
        return Mesh(
            self.devices if devices is None else devices,
            self.axis_names if axis_names is None else axis_names,
            axis_types=self.axis_types if axis_types is None else axis_types,
        )

    def update_axis_types(self, name_to_type):
        """The same with other types of the axes that are keys."""
        return self.update(axis_types=self.abstract_mesh.update_axis_types(name_to_type).axis_types)

    @property
    def is_scalar(self):
        return self.devices.ndim == 0

    def _key(self):
        return self.axis_names, self.devices.shape, self.device_ids_in_order, self.axis_types

    def __enter__(self):
        state.thread.meshes.append(self)
        state.tell()
        return self

    def __exit__(self, *exc):
        state.thread.meshes.pop()
        state.tell()

    def __repr__(self):
        if self.empty:
            return "Mesh()"
        _, types = self._text().rsplit(", axis_types=", 1)
        return (
            f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, axis_types={types}"
        )

    def __str__(self):
        return "Mesh()" if self.empty else self._text()


def make_mesh(axis_shapes, axis_names, axis_types=None, *, devices=None):
    """A mesh of the first devices in that shape, whose axes are of type Explicit.

    Types of arrays show how they are split over such axes. If an op leaves the split of its result
    open, there is an answer nevertheless. With axis_types=(AxisType.Explicit, ...) it raises.

    Args:
      axis_shapes: the size of each axis.
      axis_names: a name per axis.
      axis_types: an AxisType per axis.
      devices: the devices in their order; the first ones unless given.

    Raises:
      ValueError: where the shape is no sequence of ints, or needs more devices than there are.

    Example:
      >>> shardax.make_mesh((2, 2), ("x", "y")).size
      4
    """
    try:
        shape = tuple(operator.index(size) for size in axis_shapes)
    except TypeError:
        raise ValueError(
            "`axis_shapes` passed to `make_mesh` should be a sequence of ints, got "
            f"{axis_shapes!r}."
        ) from None
    axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
    if len(shape) != len(axis_names):
        raise ValueError(
            f"make_mesh: {len(shape)} sizes {shape} but {len(axis_names)} names {axis_names}."
        )
    known = _devices() if devices is None else list(devices)
    if math.prod(shape) > len(known):
        raise ValueError(
            f"Number of devices {len(known)} must be >= the product of mesh_shape {shape}. "
            f'Raise it with shardax.config.update("jax_num_cpu_devices", {math.prod(shape)}).'
        )
    grid = np.empty(math.prod(shape), dtype=object)
    grid[:] = known[: math.prod(shape)]
    if axis_types is not None:
        return Mesh(grid.reshape(shape), axis_names, axis_types=axis_types)
    mesh = Mesh(grid.reshape(shape), axis_names, axis_types=(AxisType.Explicit,) * len(shape))
    mesh._implied = True
    return mesh
