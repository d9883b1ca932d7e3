# shardax/numpy/_functional.py - functions applied along axes.
import builtins
import functools

from shardax import _core
from shardax.numpy import (
    _shape,
)
from shardax.numpy._common import asarray, canonical_axis


def vectorize(pyfunc, *, excluded=frozenset(), signature=None):
    """A function of scalars (or of what `signature` says) that broadcasts over all other
    dimensions.
    """
    from shardax._api import vmap

    inputs = None
    if signature is not None:
        left, _, _ = signature.replace(" ", "").partition("->")

        def parse(text):
            return [tuple(c for c in core.split(",") if c) for core in text[1:-1].split("),(")]

        inputs = parse(left)

    @functools.wraps(pyfunc)
    def wrapped(*args, **kwargs):
        fixed = {i: a for i, a in enumerate(args) if i in excluded}
        arrays = [asarray(a) for i, a in enumerate(args) if i not in excluded]
        cores = inputs or [()] * len(arrays)
        shapes = [a.shape[: a.ndim - len(c)] for a, c in zip(arrays, cores)]
        outer = _core.broadcast_shapes(*shapes) if shapes else ()

        def call(*some):
            rest = iter(some)
            return pyfunc(
                *[fixed[i] if i in fixed else next(rest) for i in range(len(args))], **kwargs
            )

        fun = call
        for d in range(len(outer)):  # from the innermost dimension out
            axes = [0 if len(s) > d and s[-1 - d] != 1 else None for s in shapes]
            if builtins.all(a is None for a in axes):
                n = outer[-1 - d]
                fun = vmap(fun, in_axes=None, out_axes=0, axis_size=n)
            else:
                fun = vmap(fun, in_axes=tuple(axes))
        squeezed = []
        for a, s in zip(arrays, shapes):
            ones = tuple(i for i, n in enumerate(s) if n == 1)
            squeezed.append(_shape.squeeze(a, ones) if ones else a)
        out = fun(*squeezed)
        return out

    return wrapped


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d of every vector along `axis`."""
    from shardax._api import vmap

    arr = asarray(arr)
    axis = canonical_axis(axis, arr.ndim)
    fun = lambda v: func1d(v, *args, **kwargs)  # noqa: E731
    for _ in range(axis + 1, arr.ndim):
        fun = vmap(fun, in_axes=1, out_axes=-1)
    for _ in range(axis):
        fun = vmap(fun, in_axes=0, out_axes=0)
    return fun(arr)


def apply_over_axes(func, a, axes):
    """func(a, axis) over several axes in turn."""
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        out = func(a, axis=axis)
        a = out if out.ndim == a.ndim else _shape.expand_dims(out, axis)
    return a
