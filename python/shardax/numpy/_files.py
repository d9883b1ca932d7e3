# shardax/numpy/_files.py - arrays in files.
import numpy as np

from shardax._base.arrays import asarray
from shardax._base.dtypes import bfloat16


def save(file, arr, allow_pickle=True):
    """Writes an array to a .npy file."""
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


savez = np.savez


def fromfile(*args, **kwargs):
    """Not implemented: it could not tell that the file changes; give numpy.fromfile's to array."""
    raise NotImplementedError(
        "jnp.fromfile() is not implemented because it may be non-pure and thus unsafe for use with "
        "JIT and other transformations. Consider using jnp.asarray(np.fromfile(...)) instead."
    )


def fromiter(*args, **kwargs):
    """Not implemented: iterators change when they are read; give numpy.fromiter's to array."""
    raise NotImplementedError(
        "jnp.fromiter() is not implemented because it may be non-pure and thus unsafe for use with "
        "JIT and other transformations. Consider using jnp.asarray(np.fromiter(...)) instead."
    )


def load(file, *args, **kwargs):
    """Reads an array from a .npy file."""
    out = np.load(file, *args, **kwargs)
    if not isinstance(out, np.ndarray):
        return out
    if out.dtype == np.dtype("V2"):  # as NumPy writes bfloat16, which it does not know
        out = out.view(np.dtype(bfloat16))
    return asarray(out)
