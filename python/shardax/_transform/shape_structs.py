"""shardax/_transform/shape_structs.py - shapes and dtypes without elements."""

import numpy as np

from shardax._core import api as _core


class ShapeDtypeStruct:
    """The shape and dtype of an array, without its elements: for eval_shape and lower."""

    __slots__ = ("shape", "dtype", "sharding", "weak_type", "vma", "is_ref")

    def __init__(self, shape, dtype, *, sharding=None, weak_type=False, vma=None, is_ref=False):
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified.")
        self.shape = tuple(shape)
        if dtype in (int, float, complex):
            dtype = np.dtype(dtype)  # as NumPy has it, whatever jax_enable_x64 is
        self.dtype = _core.ShapedArray(self.shape, dtype).dtype
        self.sharding = sharding
        self.weak_type = weak_type
        self.vma = vma
        self.is_ref = is_ref  # stands for a mutable reference to such an array

    ndim = property(lambda self: len(self.shape))

    @classmethod
    def like(cls, array):
        """The shape and dtype of an array."""
        aval = _core.typeof(array)
        return cls(aval.shape, aval.dtype, weak_type=aval.weak_type)

    @property
    def size(self):
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    def update(self, **changes):
        """The same with some of shape, dtype, sharding and weak_type changed."""
        fields = {name: getattr(self, name) for name in self.__slots__} | changes
        return ShapeDtypeStruct(fields.pop("shape"), fields.pop("dtype"), **fields)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def _key(self):
        return self.shape, str(self.dtype), self.sharding, self.weak_type, self.is_ref

    def __eq__(self, other):
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key()[:2])

    def __repr__(self):
        sharding = f", sharding={self.sharding}" if self.sharding is not None else ""
        weak = ", weak_type=True" if self.weak_type else ""
        ref = ", is_ref=True" if self.is_ref else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype}{sharding}{weak}{ref})"


def struct_of(aval):
    """The ShapeDtypeStruct of a ShapedArray."""
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)
