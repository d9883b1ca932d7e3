# shardax/numpy/_files.py - arrays in files.
import numpy as np

from shardax._base.arrays import asarray
from shardax._base.dtypes import bfloat16


def save(file, arr, allow_pickle=True):
    """Writes an array to a file in NumPy's format, as `numpy.save`.

    Args:
      file: a path (".npy" is added where it is missing) or an open file.
      arr: an array.
      allow_pickle: whether arrays of objects may be written.

    Example:
      >>> import io
      >>> file = io.BytesIO()
      >>> jnp.save(file, jnp.array([1, 2]))
      >>> file.tell()
      136
    """
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


savez = np.savez


def fromfile(*args, **kwargs):
    """Not implemented: files change, which a pure function could not tell.

    Raises:
      NotImplementedError: always; pass the result of `numpy.fromfile` to `jnp.array`.

    Example:
      >>> jnp.array(np.fromfile("/dev/zero", dtype="int8", count=2))
      Array([0, 0], dtype=int8)
    """
    raise NotImplementedError(
        "jnp.fromfile() is not implemented because it may be non-pure and thus unsafe for use with "
        "JIT and other transformations. Consider using jnp.asarray(np.fromfile(...)) instead."
    )


def fromiter(*args, **kwargs):
    """Not implemented: iterators change when they are read, which a pure function could not tell.

    Raises:
      NotImplementedError: always; pass the result of `numpy.fromiter` to `jnp.array`.

    Example:
      >>> jnp.array(np.fromiter((i * i for i in range(3)), dtype="int32"))
      Array([0, 1, 4], dtype=int32)
    """
    raise NotImplementedError(
        "jnp.fromiter() is not implemented because it may be non-pure and thus unsafe for use with "
        "JIT and other transformations. Consider using jnp.asarray(np.fromiter(...)) instead."
    )


def load(file, *args, **kwargs):
    """Reads an array from a file in NumPy's format, as `numpy.load`.

    Args:
      file: a path or an open file.
      *args, **kwargs: as for `numpy.load`.

    Returns:
      An array; for a .npz file the result of `numpy.load`.

    Example:
      >>> import io
      >>> file = io.BytesIO()
      >>> jnp.save(file, jnp.array([1, 2]))
      >>> _ = file.seek(0)
      >>> jnp.load(file)
      Array([1, 2], dtype=int32)
    """
    out = np.load(file, *args, **kwargs)
    if not isinstance(out, np.ndarray):
        return out
    if out.dtype == np.dtype("V2"):  # as NumPy writes bfloat16, which it does not know
        out = out.view(np.dtype(bfloat16))
    return asarray(out)
