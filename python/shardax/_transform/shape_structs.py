"""shardax/_transform/shape_structs.py - shapes and dtypes without elements."""

import contextlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from shardax import tree_util
from shardax._base.manual_axes import ManualAxisType
from shardax._base.symbolic_dims import has_symbolic_sizes
from shardax._core import Array, Tracer, get_sharding
from shardax._core import api as _core
from shardax._devices.constraints import spread
from shardax._devices.full_like import full
from shardax._devices.layout import AutoLayout
from shardax._devices.layouts import Format
from shardax._devices.mesh_context import get_mesh
from shardax._devices.shardings import NamedSharding, PartitionSpec, Sharding, check_rank


def _parts_of(where, shape):
    """The layout and the sharding (or PartitionSpec) from the arguments of a ShapeDtypeStruct."""
    layout = None
    if isinstance(where, Format):
        if isinstance(where.layout, AutoLayout):
            raise TypeError(
                "`Layout.AUTO` cannot be used in place of a device-local layout in a "
                f"`ShapeDtypeStruct`. Got {where}"
            )
        layout, where = where.layout, where.sharding
    if isinstance(where, PartitionSpec):
        check_rank(where, where, len(shape))
    elif isinstance(where, Sharding):
        where.check_compatible_aval(shape)
    elif where is not None:
        raise ValueError(
            "sharding should be an instance of `jax.sharding.Sharding`, "
            "`jax.sharding.PartitionSpec` or `jax.experimental.layout.Format`. Got "
            f"{where} of type {type(where)}."
        )
    return layout, where


class _Staging(threading.local):
    """True while a function is staged only for the shapes of its results."""

    shapes_only = False


_staging = _Staging()


@contextlib.contextmanager
def shapes_alone():
    """A context in which ShapeDtypeStructs are operands of ops: nothing that is staged will run."""
    before, _staging.shapes_only = _staging.shapes_only, True
    try:
        yield
    finally:
        _staging.shapes_only = before


def _over_current_mesh(where):
    """A Sharding; a PartitionSpec as one over the mesh that is current."""
    if not isinstance(where, PartitionSpec):
        return where
    if get_mesh().empty:
        raise TypeError(
            "When specifying PartitionSpec to `ShapeDtypeStruct`, the context mesh cannot be empty."
            " Please use `jax.set_mesh` to set the mesh context."
        )
    return NamedSharding(get_mesh(), where)


class ShapeDtypeStruct:
    """The shape and dtype of an array, without its elements: for eval_shape and lower.

    Args:
      shape: a sequence of integers.
      dtype: a dtype, or what names one.
      sharding: how such an array is split: a Sharding, a Format, or a PartitionSpec of the mesh
        that is current when it matters.
      weak_type: whether it promotes like a Python scalar.
      vma, manual_axis_type: over which mapped axes its values differ.
      is_ref: whether it stands for a mutable reference to such an array.

    Raises:
      ValueError: where there is no dtype, or a sharding that does not fit the shape.
      TypeError: for another manual_axis_type than a ManualAxisType.
    """

    __slots__ = (
        *("shape", "dtype", "_sharding", "_layout", "weak_type", "vma", "manual_axis_type"),
        "is_ref",
    )

    def __init__(
        self,
        shape: Sequence[Any],
        dtype: Any,
        *,
        sharding: Any = None,
        weak_type: bool = False,
        vma: Any = None,
        manual_axis_type: Any = None,
        is_ref: bool = False,
    ) -> None:
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified.")
        self.shape = tuple(shape)
        if dtype in (int, float, complex):
            dtype = np.dtype(dtype)  # as NumPy has it, whatever jax_enable_x64 is
        known = () if has_symbolic_sizes(self) else self.shape
        self.dtype = _core.ShapedArray(known, dtype).dtype
        self._sharding = self._layout = None
        if sharding is not None:
            self._layout, self._sharding = _parts_of(sharding, self.shape)
        self.weak_type = weak_type
        self.vma = vma
        if manual_axis_type is not None and not isinstance(manual_axis_type, ManualAxisType):
            raise TypeError(
                "`manual_axis_type` argument passed to ShapeDtypeStruct should be of type "
                f"`jax.sharding.ManualAxisType`. Got type {type(manual_axis_type)}"
            )
        self.manual_axis_type = manual_axis_type
        self.is_ref = is_ref

    ndim = property(lambda self: len(self.shape))

    @property
    def __jax_array__(self):
        """Under eval_shape: a function that gives the stand-in for such an array."""
        if not _staging.shapes_only:
            raise AttributeError("a ShapeDtypeStruct has no value")
        return lambda: full(self.shape, 0, self.dtype)

    @property
    def sharding(self):
        """The sharding that was given; for a PartitionSpec, over the mesh that is current now."""
        return None if self._sharding is None else _over_current_mesh(self._sharding)

    @property
    def format(self):
        """The layout and the sharding that were given."""
        return Format(self._layout, self.sharding)

    @classmethod
    def like(cls, array):
        """The shape and dtype of an array, and how it is split where that has been said."""
        aval = _core.typeof(array)
        where = None
        if isinstance(array, Tracer):
            where = aval.sharding if aval.sharding.mesh.explicit_axes else None
        elif isinstance(array, Array) and get_sharding(array) is not None:
            where = array.sharding
        return cls(aval.shape, aval.dtype, weak_type=aval.weak_type, sharding=where)

    @property
    def size(self):
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    def update(self, **changes):
        """The same with some of the constructor's arguments changed."""
        if self._layout is not None and isinstance(changes.get("sharding"), Sharding):
            raise ValueError(
                f"You are updating ShapeDtypeStruct with a {type(changes['sharding'])} when the "
                f"original ShapeDtypeStruct had a concrete layout {self.format}. Give a Format, or "
                "make a new ShapeDtypeStruct."
            )
        fields = {name: getattr(self, name) for name in self.__slots__ if name[0] != "_"}
        fields["sharding"] = self._sharding if self._layout is None else self.format
        fields |= changes
        return ShapeDtypeStruct(fields.pop("shape"), fields.pop("dtype"), **fields)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def _key(self):
        return (
            *(self.shape, str(self.dtype), self._sharding, self._layout, self.weak_type),
            self.is_ref,
        )

    def __eq__(self, other):
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key()[:2])

    def __repr__(self):
        sharding = f", sharding={self.sharding}" if self.sharding is not None else ""
        layout = f", format={self._layout}" if self._layout is not None else ""
        weak = ", weak_type=True" if self.weak_type else ""
        ref = ", is_ref=True" if self.is_ref else ""
        return (
            f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype}{sharding}{layout}{weak}{ref})"
        )


ShapeDtypeStruct.__module__ = "shardax"  # its public home


def struct_of(aval):
    """The ShapeDtypeStruct of a ShapedArray; over explicit axes it says how that is split."""
    where = aval.sharding
    where = where if where.mesh.explicit_axes else None
    mat = aval.mat if aval.mat.varying else None
    return ShapeDtypeStruct(
        aval.shape, aval.dtype, weak_type=aval.weak_type, sharding=where, manual_axis_type=mat
    )


def split_as_asked(fun, structs):
    """The results of `fun`, which may be jitted, as ShapeDtypeStructs: with its out_shardings."""
    given = getattr(fun, "_out_shardings", None)
    asked = None if given is None else given()
    if asked is None:
        return structs
    leaves, tree = tree_util.tree_flatten(structs)
    where = spread(asked, structs, "jit", "out_shardings", formats=True)
    return tree.unflatten(
        [leaf if w is None else leaf.update(sharding=w) for leaf, w in zip(leaves, where)]
    )
