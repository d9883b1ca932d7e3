# shardax/numpy/_files.py - arrays in files.
import numpy as np

from shardax._base.arrays import asarray


def save(file, arr, **kwargs):
    """Writes an array to a .npy file."""
    np.save(file, np.asarray(arr), **kwargs)


def load(file, *args, **kwargs):
    """Reads an array from a .npy file."""
    out = np.load(file, *args, **kwargs)
    return asarray(out) if isinstance(out, np.ndarray) else out
