# shardax/numpy/_array_methods.py - methods of arrays that are rarely used.
"""Each function is a method of Array of the same name; the core calls them by that."""

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._devices.device_put import device_put
from shardax.dtypes import itemsize_bits


def flat(x):
    return x.ravel()


def clone(x):
    return x.copy()


def to_device(x, device, *, stream=None):
    """The array on `device`; NotImplementedError for a `stream`, of which CPUs have none."""
    if stream is not None:
        raise NotImplementedError(
            f"stream argument of array.to_device(): got {stream!r}; None was expected, since CPUs "
            "have no streams."
        )
    return device_put(x, device)


def view(x, dtype=None):
    """The same bytes as elements of another dtype; the last dimension grows or shrinks."""
    if dtype is None:
        return x
    target = _core.dtype_of(dtype)
    if target == x.dtype:
        return x
    old, new = itemsize_bits(x.dtype), itemsize_bits(target)
    if x.ndim == 0 and old != new:
        raise ValueError("view() of a 0d array is only supported if the itemsize is unchanged.")
    if x.shape and x.shape[-1] * old % new:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in "
            "bytes of the last axis of the array."
        )
    if x.dtype.kind == "b":
        return view(x.astype("uint8"), target)
    if target.kind == "b":
        return view(x, "uint8") != 0
    part = {"complex64": "float32", "complex128": "float64"}
    if x.dtype.kind == "c":
        return view(_interleaved(x.real, x.imag), target)
    if target.kind == "c":
        x = view(x, part[target.name])
        x = x.reshape(*x.shape[:-1], -1, 2)
        return lax.complex(x[..., 0], x[..., 1])
    if new > old:
        x = x.reshape(*x.shape[:-1], -1, new // old)
        return lax.bitcast_convert_type(x, target)
    out = lax.bitcast_convert_type(x, target)
    return out.reshape(*out.shape[:-2], -1) if new < old else out


def byteswap(x):
    """The bytes of each element, or of both parts of a complex one, in reverse."""
    if x.itemsize == 1:
        return x.copy()
    if x.dtype.kind == "c":
        return lax.complex(byteswap(x.real), byteswap(x.imag))
    return lax.bitcast_convert_type(lax.bitcast_convert_type(x, "uint8")[..., ::-1], x.dtype)


def _interleaved(a, b):
    both = jnp.stack([a, b], axis=-1)
    return both.reshape(*both.shape[:-2], -1)


def compress(x, condition, axis=None, **options):
    return jnp.compress(condition, x, axis=axis, **options)


def round_to(x, ndigits=None):
    return jnp.round(x).astype(int) if ndigits is None else jnp.round(x, ndigits)


def array_namespace(x, *, api_version=None):
    """shardax.numpy, whatever the array x is; ValueError for another version than its own."""
    if api_version not in (None, jnp.__array_api_version__):
        raise ValueError(
            f"{api_version=} is not available; available versions are: "
            f"{[jnp.__array_api_version__]}"
        )
    return jnp


def reshape(x, *shape, order="C", copy=None, out_sharding=None):
    """The elements in another shape: one tuple, or the sizes one by one."""
    sizes = shape[0] if len(shape) == 1 else shape
    return jnp.reshape(x, sizes, order, copy=copy, out_sharding=out_sharding)


def ravel(x, order="C", *, out_sharding=None):
    """The elements as one dimension."""
    return jnp.ravel(x, order, out_sharding=out_sharding)


def _value(x):
    """The elements as a numpy.ndarray, which is not to be written to."""
    return np.asarray(x)
