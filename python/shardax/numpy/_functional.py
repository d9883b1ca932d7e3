# shardax/numpy/_functional.py - functions applied along axes.
from shardax._base.array_functions import expand_dims
from shardax._base.arrays import asarray, canonical_axis
from shardax._transform.pmap_vmap import vmap


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d of every vector along `axis`."""
    arr = asarray(arr)
    axis = canonical_axis(axis, arr.ndim)
    fun = lambda v: func1d(v, *args, **kwargs)  # noqa: E731
    for d in range(1, arr.ndim - axis):
        fun = vmap(fun, in_axes=d, out_axes=-1)
    for _ in range(axis):
        fun = vmap(fun, in_axes=0, out_axes=0)
    return fun(arr)


def apply_over_axes(func, a, axes):
    """func(a, axis) over several axes in turn."""
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        out = func(a, axis)
        a = out if out.ndim == a.ndim else expand_dims(out, axis)
    return a
