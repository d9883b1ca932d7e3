"""shardax/_transform/hi_maps.py - vmap and shard_map of values that are no arrays (hi_types.py).

A `MappingSpec` or `HiPspec` stands for the axes or PartitionSpecs of the arrays of one value; the
function becomes one of these arrays.
"""

import dataclasses
import functools

from shardax import tree_util
from shardax._transform.hi_specs import stands_for_arrays
from shardax._transform.hi_types import _unflatten, is_hi, lowered
from shardax._transform.jit import typeof


def _of_arrays(spec):
    """What it says of each array."""
    if hasattr(spec, "to_lo"):
        return tuple(spec.to_lo())
    fields = [getattr(spec, f.name) for f in dataclasses.fields(spec)]
    found = tree_util.tree_leaves(fields, lambda x: x is None or stands_for_arrays(x))
    return tuple(axis for x in found for axis in (_of_arrays(x) if stands_for_arrays(x) else (x,)))


def _opened_specs(specs, count=None):
    """The tree with the specs of arrays in their place; one for `count` arguments."""
    if count is not None and stands_for_arrays(specs):
        return (_of_arrays(specs),) * count
    return tree_util.tree_map(
        lambda s: _of_arrays(s) if stands_for_arrays(s) else s,
        specs,
        is_leaf=lambda s: s is None or stands_for_arrays(s),
    )


def _open(tree):
    """The tree with tuples of arrays in place of values that are no arrays; what puts them back."""
    leaves, structure = tree_util.tree_flatten(tree)
    avals = []
    for i, leaf in enumerate(leaves):
        try:
            avals.append(typeof(leaf))
        except TypeError:
            avals.append(None)
        if is_hi(avals[i]):
            leaves[i] = tuple(lowered(avals[i], leaf))

    def close(opened):
        parts = structure.flatten_up_to(opened)
        return structure.unflatten(
            [_unflatten(a, list(p)) if is_hi(a) else p for a, p in zip(avals, parts)]
        )

    return structure.unflatten(leaves), close


def of_arrays(transform, fun, in_specs, out_specs):
    """transform(fun, in_specs, out_specs) by the arrays of the arguments."""
    closing = {}

    def opened_fun(*args, **kwargs):
        args, kwargs = closing["arguments"]((args, kwargs))
        out, closing["result"] = _open(fun(*args, **kwargs))
        return out

    functools.update_wrapper(opened_fun, fun)

    @functools.cache
    def mapped(count):
        return transform(opened_fun, _opened_specs(in_specs, count), _opened_specs(out_specs))

    @functools.wraps(fun)
    def call(*args, **kwargs):
        (args, kwargs), closing["arguments"] = _open((args, kwargs))
        out = mapped(len(args))(*args, **kwargs)
        return closing["result"](out)

    return call


class MappingSpec:
    """How vmap maps a value of a HiType: what stands for it in in_axes and out_axes. Its attributes
    hold an axis or None for each array, in their order."""

    through_arrays = staticmethod(of_arrays)


class HiPspec:
    """How shard_map splits a value of a HiType: what stands for it in in_specs and out_specs."""

    through_arrays = staticmethod(of_arrays)

    def to_lo(self):
        """The PartitionSpecs of the arrays."""
        raise NotImplementedError(f"{type(self).__name__} must define to_lo.")

    def to_tangent_spec(self):
        """That of tangents."""
        return self

    def to_ct_spec(self):
        """That of cotangents."""
        return self.to_tangent_spec()
