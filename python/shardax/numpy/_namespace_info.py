# shardax/numpy/_namespace_info.py - the Python array API standard's facts on jnp.
import numpy as np

import shardax._core as _core
from shardax._devices.devices import devices

__array_api_version__ = "2024.12"

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class ArrayNamespaceInfo:
    """Devices, dtypes and abilities, as the array API standard asks for them."""

    def capabilities(self):
        """Indexing by booleans and shapes that depend on data do not work under jit."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self):
        """None: the first device, unless jax_default_device says otherwise."""
        return None

    def devices(self):
        """The devices, and None for the default one."""
        return [None, *devices()]

    def default_dtypes(self, *, device=None):
        """The dtypes that are taken where none is asked for, the same for each `device`."""
        return {
            "real floating": _core.canonical_dtype(float),
            "complex floating": _core.canonical_dtype(complex),
            "integral": _core.canonical_dtype(int),
            "indexing": _core.canonical_dtype(int),
        }

    def dtypes(self, *, device=None, kind=None):
        """The dtypes by name: those of 64 bits where x64 is on.

        Args:
          device: without effect: all devices have the same.
          kind: "bool", "signed integer", "integral", "numeric" ..., or a tuple of these.

        Raises:
          KeyError: for other kinds.
        """
        if kind is None:
            kind = ("bool", "numeric")
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = [name for k in kinds for name in _KINDS[k]]
        return {n: np.dtype(n) for n in names if _core.canonical_dtype(n) == np.dtype(n)}


def __array_namespace_info__():
    """The answers to the array API standard's questions:
    `jnp.__array_namespace_info__().dtypes()`."""
    return ArrayNamespaceInfo()
